// Limits of |C| within which the addition of C to an exact sum of groups needs no alignment. Private to sim/numeric.
#pragma once

#include <algorithm>
#include <cstdint>

namespace drywell::numeric {

/// Bits of the least and the greatest |C| (C = 0 is always allowed) with which the window truncates neither C nor a group;
/// least > greatest: there is no such C.
struct CLimits {
  uint32_t least, greatest;
};

/// A group's sum is a multiple of 2^(S - 8), S the exponent of its scales: two three-bit fractions and the quarter.
inline constexpr int kGroupDepth = 8;

/// `top`, `bottom`: the largest and the smallest sum of the exponents of two scales. C's last bit is 23 below its exponent. The
/// window truncates neither a group nor C if both last bits are within the window.
inline CLimits c_limits(int top, int bottom, int window) {
  constexpr int kCDepth = 23;
  constexpr CLimits kNone = {1, 0};
  if (bottom < 1000 && top - window > bottom - kGroupDepth) return kNone;
  const int least = top - window + kCDepth, greatest = std::min(bottom + window - kGroupDepth, 126);
  if (greatest < -126 || least > greatest) return kNone;
  return {least <= -126 ? 1 : static_cast<uint32_t>(least + 127) << 23, (static_cast<uint32_t>(greatest + 128) << 23) - 1};
}

}  // namespace drywell::numeric
