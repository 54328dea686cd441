// Arithmetic of 16-bit floats through wider formats, rounded once. A wide result that is rounded to odd (the last bit is set if a
// nonzero bit was cut off) rounds to the narrow format as the exact value does, because the wide format has more than two extra
// bits (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "drywell/sim/numeric/convert_fast.h"

namespace drywell::sim {

/// a + b rounded to odd. Without a branch, so that the compiler can use vectors.
template <class T>
inline T add_to_odd(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T s = a + b, other = s - a, error = (a - (s - other)) + (b - other);  // a + b - s exactly (Knuth); NaN if s is not finite
  const auto bits = std::bit_cast<Bits>(s);
  const Bits away = (error < 0) != (s < 0) ? 1 : 0;  // s was rounded away from zero
  const Bits odd = (bits - away) | 1;
  return std::bit_cast<T>(error < 0 || error > 0 ? odd : bits);
}

/// The float nearest below in magnitude; its last bit is set if v is not a float.
inline float to_float_odd(double v) {
  const auto f = static_cast<float>(v);
  const double back = f;
  const auto bits = std::bit_cast<uint32_t>(f);
  const uint32_t away = std::fabs(back) > std::fabs(v) ? 1 : 0;
  const uint32_t odd = (bits - away) | 1;
  return std::bit_cast<float>(back < v || back > v ? odd : bits);
}

/// Products of two f16 are multiples of 2^-48 with 22 bits: exact in f32, and no sum of one and an f16 is subnormal there.
struct F16Format {
  using Wide = float;
  static Wide value(uint32_t h) { return std::bit_cast<float>(numeric::f16_to_f32(h)); }
  static uint32_t round(Wide v) { return numeric::f32_to_f16_rn(std::bit_cast<uint32_t>(v)); }
  static uint32_t flush(uint32_t h) { return (h & 0x7C00) == 0 ? h & 0x8000 : h; }
  /// Subnormal after rounding with an unbounded exponent (rounded.h).
  static bool is_subnormal(Wide v) { return (round(v * 0x1p12f) & 0x7FFF) < 0x3400; }
  static constexpr uint32_t kOne = 0x3C00, kInfinity = 0x7C00;
};
/// Products of two bf16 leave the range of f32.
struct Bf16Format {
  using Wide = double;
  static Wide value(uint32_t h) { return std::bit_cast<float>(numeric::bf16_to_f32(h)); }
  static uint32_t round(Wide v) { return numeric::f32_to_bf16_rn(std::bit_cast<uint32_t>(to_float_odd(v))); }
  static uint32_t flush(uint32_t h) { return (h & 0x7F80) == 0 ? h & 0x8000 : h; }
  static bool is_subnormal(Wide v) { return (round(v * 0x1p12) & 0x7FFF) < 0x0680; }
  static constexpr uint32_t kOne = 0x3F80, kInfinity = 0x7F80;
};

}  // namespace drywell::sim
