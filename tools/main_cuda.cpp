// drywell-cuda: CUDA programs in front of the simulator.
#include <string_view>
#include <vector>

#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  std::vector<char*> words(argv, argv + argc);
  // Compilers take one path for ptxas: under this name the program is `drywell ptxas`.
  char ptxas[] = "ptxas";
  if (argc > 0 && std::string_view(argv[0]).ends_with("drywell-ptxas")) words.insert(words.begin() + 1, ptxas);
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  return run_program<Program::cuda>(count, words.data());
}
