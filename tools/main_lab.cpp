// drywell-lab: subcommands that hold the simulator against expectations and GPUs.
#include "tools/common/program.h"

int main(int argc, char** argv) { return drywell::tools::run_program<drywell::tools::Program::lab>(argc, argv); }
