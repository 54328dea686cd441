// drywell_fuzz_seeds FOLDER: writes the seeds of each fuzzer NAME to FOLDER/NAME, a file each.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "seeds.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) return std::fputs("drywell_fuzz_seeds FOLDER\n", stderr), 2;
  for (const auto& [fuzzer, inputs] : drywell::attack::all_seeds()) {
    const fs::path folder = fs::path(argv[1]) / fuzzer;
    fs::create_directories(folder);
    for (size_t i = 0; i < inputs.size(); ++i) std::ofstream(folder / std::to_string(i), std::ios::binary) << inputs[i];
  }
  return 0;
}
