// drywell: the one command. It starts the other programs for their subcommands (tools/common/commands.inc).
#include "tools/common/program.h"

int main(int argc, char** argv) { return drywell::tools::run_program<drywell::tools::Program::drywell>(argc, argv); }
