// SplitMix64: reproducible numbers in the place of what nobody has published, such as the channel of an address.
#pragma once

#include <cstdint>

namespace drywell::sim {

constexpr uint64_t scattered(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// In [0, 1).
constexpr double scattered_share(uint64_t x) { return static_cast<double>(scattered(x) >> 11) * 0x1p-53; }

}  // namespace drywell::sim
