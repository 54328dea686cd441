// The values of the half formats.
#pragma once

#include <cmath>
#include <cstdint>

namespace drywell::test {

/// IEEE format of 1 + exponent + fraction bits.
struct FloatFormat {
  unsigned exponent, fraction;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint64_t infinity() const { return ((uint64_t{1} << exponent) - 1) << fraction; }
  uint64_t magnitude(uint64_t v) const { return v & ((uint64_t{1} << (exponent + fraction)) - 1); }
  bool is_nan(uint64_t v) const { return magnitude(v) > infinity(); }
  bool is_infinite(uint64_t v) const { return magnitude(v) == infinity(); }
};
inline constexpr FloatFormat kF16{5, 10}, kBf16{8, 7};

/// A finite number of the format.
inline double exact(const FloatFormat& f, uint64_t code) {
  const uint64_t field = f.magnitude(code) >> f.fraction, fraction = code & ((uint64_t{1} << f.fraction) - 1);
  const auto digits = static_cast<double>(fraction | (field != 0 ? uint64_t{1} << f.fraction : 0));
  const int exponent = static_cast<int>(field != 0 ? field : 1) - f.bias() - static_cast<int>(f.fraction);
  return std::copysign(std::ldexp(digits, exponent), (code >> (f.exponent + f.fraction)) != 0 ? -1.0 : 1.0);
}

}  // namespace drywell::test
