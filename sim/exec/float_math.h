// Scalar functions for PTX's single-precision rules, written without branches so that lane loops vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace drywell::sim {

inline constexpr uint32_t kNanF32 = 0x7FFFFFFF;

inline bool is_nan_bits(uint32_t b) { return (b & 0x7FFFFFFFu) > 0x7F800000u; }
/// Any NaN becomes 7FFFFFFF.
inline float canonical(float v) {
  const uint32_t b = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>(is_nan_bits(b) ? kNanF32 : b);
}
/// Subnormals become a zero of the same sign.
inline float flush(float v) {
  const uint32_t b = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((b & 0x7F800000u) == 0 ? b & 0x80000000u : b);
}
/// Clamp to [0, 1]; NaN becomes +0 (PTX ISA 9.7.3.3).
inline float saturate(float v) {
  const float low = v > 0.0f ? v : 0.0f;
  return low < 1.0f ? low : 1.0f;
}

/// Order of float bits as signed integers: -0 below +0.
inline int32_t order_key(uint32_t b) { return static_cast<int32_t>(b ^ ((b & 0x80000000u) != 0 ? 0x7FFFFFFFu : 0u)); }

/// min or max with -0 < +0. Nan: any NaN input gives the canonical NaN; else the other operand, two NaNs the canonical.
template <bool Max, bool Nan>
inline float min_max(float a, float b) {
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  const bool x_nan = is_nan_bits(x), y_nan = is_nan_bits(y);
  const bool first = Max ? order_key(x) > order_key(y) : order_key(x) < order_key(y);
  uint32_t r = first ? x : y;
  if constexpr (Nan) {
    r = x_nan || y_nan ? kNanF32 : r;
  } else {
    r = x_nan ? y : r;
    r = y_nan ? x : r;
    r = x_nan && y_nan ? kNanF32 : r;
  }
  return std::bit_cast<float>(r);
}

}  // namespace drywell::sim
