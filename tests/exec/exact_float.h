// Reference arithmetic of binary floating-point formats on unbounded integers: every operation is exact, then
// rounded once.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace drywell::test {

using boost::multiprecision::cpp_int;

/// IEEE format of 1 + exponent + fraction bits. `nan` is the code results that are no numbers get.
struct FloatFormat {
  unsigned exponent, fraction;
  uint64_t nan;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint64_t infinity() const { return ((uint64_t{1} << exponent) - 1) << fraction; }
  uint64_t sign() const { return uint64_t{1} << (exponent + fraction); }
  uint64_t magnitude(uint64_t v) const { return v & (sign() - 1); }
  bool is_nan(uint64_t v) const { return magnitude(v) > infinity(); }
  bool is_infinite(uint64_t v) const { return magnitude(v) == infinity(); }
  bool is_zero(uint64_t v) const { return magnitude(v) == 0; }
  bool negative(uint64_t v) const { return (v & sign()) != 0; }
  /// Subnormals become a zero of their sign.
  uint64_t flushed(uint64_t v) const { return magnitude(v) < (uint64_t{1} << fraction) ? v & sign() : v; }
  uint64_t one() const { return static_cast<uint64_t>(bias()) << fraction; }
};
inline constexpr FloatFormat kF64{11, 52, 0}, kF32{8, 23, 0x7FFFFFFF}, kF16{5, 10, 0x7FFF},
    kBf16{8, 7, 0x7FFF};

/// A finite number: significand * 2^exponent, the significand signed; `negative_zero` for -0.
struct Exact {
  cpp_int significand;
  int exponent = 0;
  bool negative_zero = false;
  bool sticky = false;  // the magnitude is a little larger than that
};

inline Exact exact(const FloatFormat& f, uint64_t code) {
  const uint64_t field = f.magnitude(code) >> f.fraction, fraction = code & ((uint64_t{1} << f.fraction) - 1);
  Exact x;
  x.significand = cpp_int(fraction | (field != 0 ? uint64_t{1} << f.fraction : 0));
  x.exponent = static_cast<int>(field != 0 ? field : 1) - f.bias() - static_cast<int>(f.fraction);
  if (f.negative(code)) x.significand = -x.significand;
  x.negative_zero = x.significand == 0 && f.negative(code);
  return x;
}

enum class Round { rn, rz, rm, rp };

/// `x` in format `f`.
inline uint64_t rounded(const FloatFormat& f, const Exact& x, Round mode) {
  const bool negative = x.significand < 0 || x.negative_zero;
  const uint64_t sign = negative ? f.sign() : 0;
  cpp_int m = x.significand < 0 ? cpp_int(-x.significand) : x.significand;
  if (m == 0 && !x.sticky) return sign;
  // Two more bits than the significand keeps are enough with the sticky bit.
  const int lowest = 1 - f.bias() - static_cast<int>(f.fraction);
  const int top = m == 0 ? x.exponent : x.exponent + static_cast<int>(msb(m));
  int unit = std::max(top - static_cast<int>(f.fraction), lowest);
  cpp_int units;
  bool half = false, rest = x.sticky;
  const int shift = unit - x.exponent;
  if (shift <= 0) {
    units = m << -shift;
  } else {
    units = m >> shift;
    half = bit_test(m, static_cast<unsigned>(shift - 1));
    rest = rest || (m & ((cpp_int(1) << (shift - 1)) - 1)) != 0;
  }
  const bool up = mode == Round::rn ? half && (rest || bit_test(units, 0))
                                    : (half || rest) && mode == (negative ? Round::rm : Round::rp);
  if (up) ++units;
  if (units >> (f.fraction + 1) != 0) {
    units >>= 1;
    ++unit;
  }
  const bool normal = units >> f.fraction != 0;
  const int64_t field = normal ? int64_t{unit} + f.bias() + f.fraction : 0;
  if (field >= (int64_t{1} << f.exponent) - 1) {
    const bool to_infinity = mode == Round::rn || mode == (negative ? Round::rm : Round::rp);
    return sign | (to_infinity ? f.infinity() : f.infinity() - 1);
  }
  return sign | static_cast<uint64_t>(field) << f.fraction |
         (static_cast<uint64_t>(units) & ((uint64_t{1} << f.fraction) - 1));
}

inline Exact operator*(const Exact& a, const Exact& b) {
  Exact r{a.significand * b.significand, a.exponent + b.exponent};
  const auto negative = [](const Exact& x) { return x.significand < 0 || x.negative_zero; };
  r.negative_zero = r.significand == 0 && negative(a) != negative(b);
  return r;
}
/// A zero sum has the operands' sign if they have the same, otherwise that of the rounding mode.
inline Exact add(const Exact& a, const Exact& b, Round mode) {
  const int e = std::min(a.exponent, b.exponent);
  Exact r{(a.significand << (a.exponent - e)) + (b.significand << (b.exponent - e)), e};
  if (r.significand == 0)
    r.negative_zero =
        a.significand == 0 && a.negative_zero == b.negative_zero ? a.negative_zero : mode == Round::rm;
  return r;
}

/// f with a wider exponent.
inline FloatFormat widened(const FloatFormat& f) { return {f.exponent + 1, f.fraction, f.nan}; }
/// Whether a result of format f is subnormal before its exponent is bounded: `wide` is the same in
/// widened(f).
inline bool subnormal_result(const FloatFormat& f, uint64_t wide) {
  const FloatFormat w = widened(f);
  return w.magnitude(wide) < static_cast<uint64_t>(w.bias() - f.bias() + 1) << f.fraction;
}

/// a * b + c for operands of format f, rounded once to `to`; f.nan for a NaN.
inline uint64_t reference_fma(const FloatFormat& f, uint64_t a, uint64_t b, uint64_t c, Round mode,
                              const FloatFormat& to) {
  if (f.is_nan(a) || f.is_nan(b) || f.is_nan(c)) return f.nan;
  const bool product_infinite = f.is_infinite(a) || f.is_infinite(b);
  const uint64_t product_sign = (a ^ b) & f.sign();
  if (product_infinite) {
    if (f.is_zero(a) || f.is_zero(b) || (f.is_infinite(c) && (c & f.sign()) != product_sign)) return f.nan;
    return product_sign | f.infinity();
  }
  if (f.is_infinite(c)) return c;
  return rounded(to, add(exact(f, a) * exact(f, b), exact(f, c), mode), mode);
}
inline uint64_t reference_fma(const FloatFormat& f, uint64_t a, uint64_t b, uint64_t c, Round mode) {
  return reference_fma(f, a, b, c, mode, f);
}
inline uint64_t reference_add(const FloatFormat& f, uint64_t a, uint64_t b, Round mode) {
  return reference_fma(f, a, f.one(), b, mode);
}
inline uint64_t reference_mul(const FloatFormat& f, uint64_t a, uint64_t b, Round mode,
                              const FloatFormat& to) {
  return reference_fma(f, a, b, ((a ^ b) & f.sign()), mode,
                       to);  // adding a zero with the product's sign does not change the product
}
inline uint64_t reference_mul(const FloatFormat& f, uint64_t a, uint64_t b, Round mode) {
  return reference_mul(f, a, b, mode, f);
}
inline uint64_t reference_div(const FloatFormat& f, uint64_t a, uint64_t b, Round mode,
                              const FloatFormat& to) {
  const uint64_t sign = (a ^ b) & f.sign();
  if (f.is_nan(a) || f.is_nan(b) || (f.is_infinite(a) && f.is_infinite(b)) || (f.is_zero(a) && f.is_zero(b)))
    return f.nan;
  if (f.is_infinite(a) || f.is_zero(b)) return sign | f.infinity();
  if (f.is_infinite(b) || f.is_zero(a)) return sign;
  const Exact x = exact(f, a & ~f.sign()), y = exact(f, b & ~f.sign());
  const cpp_int numerator = x.significand << 200;
  Exact q{numerator / y.significand, x.exponent - y.exponent - 200};
  q.sticky = numerator % y.significand != 0;
  if (sign != 0) q.significand = -q.significand;
  return rounded(to, q, mode);
}
inline uint64_t reference_div(const FloatFormat& f, uint64_t a, uint64_t b, Round mode) {
  return reference_div(f, a, b, mode, f);
}
inline uint64_t reference_sqrt(const FloatFormat& f, uint64_t a, Round mode) {
  if (f.is_zero(a)) return a;
  if (f.is_nan(a) || f.negative(a)) return f.nan;
  if (f.is_infinite(a)) return a;
  Exact x = exact(f, a);
  const int shift = 200 + (x.exponent & 1);
  x.significand <<= shift;
  x.exponent -= shift;
  Exact r{sqrt(x.significand), x.exponent / 2};
  r.sticky = r.significand * r.significand != x.significand;
  return rounded(f, r, mode);
}

}  // namespace drywell::test
