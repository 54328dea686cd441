// drywell-lab: subcommands that hold the simulator against expectations and GPUs.
#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  return run_commands({{"device", register_device}, {"conformance", register_conformance}, {"bench-hw", register_bench_hw}, {"isa", register_isa}, {"mutate", register_mutate}, {"pages", register_pages}}, argc, argv);
}
