// drywell-inspect: subcommands that explain layouts, descriptors and memory.
#include "tools/common/program.h"

int main(int argc, char** argv) { return drywell::tools::run_program<drywell::tools::Program::inspect>(argc, argv); }
