// When adding C to an exact sum of groups needs no alignment. Private to sim/numeric.
#pragma once

#include <algorithm>
#include <cstdint>

namespace drywell::numeric {

/// Bits of the least and the greatest |C|, C = 0 apart, that neither is cut off by the window nor cuts off a group;
/// least > greatest: there is none.
struct CLimits {
  uint32_t least, greatest;
};

/// A group's sum is a multiple of 2^(S - 8), S the exponent of its scales: two three-bit fractions and the quarter.
inline constexpr int kGroupDepth = 8;

/// `top`, `bottom`: the largest and the smallest sum of the exponents of two scales. C's last bit lies 23 below its exponent. Neither
/// is cut off while the window reaches down that far.
inline CLimits c_limits(int top, int bottom, int window) {
  constexpr int kCDepth = 23;
  constexpr CLimits kNone = {1, 0};
  if (bottom < 1000 && top - window > bottom - kGroupDepth) return kNone;
  const int least = top - window + kCDepth, greatest = std::min(bottom + window - kGroupDepth, 126);
  if (greatest < -126 || least > greatest) return kNone;
  return {least <= -126 ? 1 : static_cast<uint32_t>(least + 127) << 23, (static_cast<uint32_t>(greatest + 128) << 23) - 1};
}

}  // namespace drywell::numeric
