// drywell: the one command. It starts the other programs for their subcommands (tools/common/commands.inc).
#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  return run_commands({{"list", register_list}, {"run", register_run}, {"arch", register_arch}, {"ptx", register_ptx}, {"trace", register_trace}, {"build", register_build}, {"errors", register_errors}, {"explain", register_explain}, {"nvcc", register_nvcc}, {"pages", register_pages}}, argc, argv);
}
