// drywell-debug: the debugger, for terminals and editors.
#include "tools/common/program.h"

int main(int argc, char** argv) { return drywell::tools::run_program<drywell::tools::Program::debug>(argc, argv); }
