// The harnesses of tests/fuzz, each with the inputs that its mutants come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drywell::attack {

struct Target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
  bool binary;  // words and operands mean nothing in it
  std::vector<std::string> seeds;
};

std::vector<Target> all_targets();

}  // namespace drywell::attack
