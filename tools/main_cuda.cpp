// drywell-cuda: CUDA programs in front of the simulator.
#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  return run_commands({{"exec", register_exec}}, argc, argv);
}
