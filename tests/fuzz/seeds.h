// Inputs of each reader of outside data, from which mutants come: of the attack (tests/attack), and of libFuzzer (write_seeds.cpp).
#pragma once

#include <string>
#include <vector>

namespace drywell::attack {

struct Seeds {
  const char* fuzzer;  // the name that tests/fuzz/CMakeLists.txt has it under
  std::vector<std::string> inputs;
};
/// The seeds of every harness of this folder.
std::vector<Seeds> all_seeds();

/// Path of a file of the tree.
std::string source(const std::string& relative);
/// The content of a file; empty if there is none.
std::string content(const std::string& path);
/// Files of a folder of the tree that end so, in the order of names; not those beyond a quarter of a
/// megabyte.
std::vector<std::string> files_of(const std::string& folder, const std::string& ending);

}  // namespace drywell::attack
