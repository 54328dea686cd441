// Arithmetic of 16-bit floats through wider formats, rounded once. A wide result that is rounded to odd (the last bit is set if a
// nonzero bit was cut off) rounds to the narrow format as the exact value does, because the wide format has more than two extra
// bits (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "drywell/sim/numeric/convert_fast.h"

namespace drywell::sim {

/// a + b rounded to odd.
inline double add_to_odd(double a, double b) {
  const double s = a + b;
  const double other = s - a, error = (a - (s - other)) + (b - other);  // a + b - s exactly (Knuth)
  if (!(std::fabs(s) <= 0x1.FFFFFFFFFFFFFp1023) || error == 0.0) return s;
  auto bits = std::bit_cast<uint64_t>(s);
  if ((error < 0) != (s < 0)) --bits;  // s was rounded away from zero
  return std::bit_cast<double>(bits | 1);
}

/// The float nearest below in magnitude; its last bit is set if v is not a float.
inline float to_float_odd(double v) {
  const auto f = static_cast<float>(v);
  if (double{f} == v || v != v) return f;
  auto bits = std::bit_cast<uint32_t>(f);
  if (std::fabs(double{f}) > std::fabs(v)) --bits;
  return std::bit_cast<float>(bits | 1);
}

struct F16Format {
  static double value(uint32_t h) { return std::bit_cast<float>(numeric::f16_to_f32(h)); }
  static uint32_t round(double v) { return numeric::f32_to_f16_rn(std::bit_cast<uint32_t>(to_float_odd(v))); }
  static uint32_t flush(uint32_t h) { return (h & 0x7C00) == 0 ? h & 0x8000 : h; }
  /// Subnormal after rounding with an unbounded exponent (rounded.h).
  static bool is_subnormal(double v) { return (round(v * 0x1p12) & 0x7FFF) < 0x3400; }
  static constexpr uint32_t kOne = 0x3C00, kInfinity = 0x7C00;
};
struct Bf16Format {
  static double value(uint32_t h) { return std::bit_cast<float>(numeric::bf16_to_f32(h)); }
  static uint32_t round(double v) { return numeric::f32_to_bf16_rn(std::bit_cast<uint32_t>(to_float_odd(v))); }
  static uint32_t flush(uint32_t h) { return (h & 0x7F80) == 0 ? h & 0x8000 : h; }
  static bool is_subnormal(double v) { return (round(v * 0x1p12) & 0x7FFF) < 0x0680; }
  static constexpr uint32_t kOne = 0x3F80, kInfinity = 0x7F80;
};

}  // namespace drywell::sim
