// Mutants of an input, from a seed: the same on every host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::attack {

/// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return n == 0 ? 0 : next() % n; }
  bool once_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

/// What is changed: single bytes and pieces; words, by others of the same text; numbers and the operands
/// between commas.
enum class Unit : uint8_t {
  bytes,
  tokens,
  operands
};

/// Returns `text` after one to a few changes.
std::string mutated(std::string_view text, Unit unit, Random& random);

}  // namespace drywell::attack
