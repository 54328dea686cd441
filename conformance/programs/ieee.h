// Exact binary arithmetic with one rounding, for expected values. Numbers are unbounded integers times powers of two, so
// that no operation rounds by accident; the code is independent of sim/numeric.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace drywell::kernels::conformance::ieee {

/// Wide enough for the exact sum of two float64 products (4200 bits); of fixed size, so that it allocates nothing.
using Int = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<8192, 8192, boost::multiprecision::signed_magnitude, boost::multiprecision::checked, void>>;

enum class Round : uint8_t {
  rn,
  rz,
  rm,
  rp,
  rna
};

/// A binary interchange format and PTX's codes at its ends.
struct Format {
  unsigned exponent, fraction;  // bits
  bool infinity = true;         // false: the top exponent holds values (e4m3, e2m3, …)
  bool has_nan = true;
  uint32_t top_codes_lost = 0;  // number of highest magnitudes that are not values: 1 for e4m3, whose 0x7F is NaN
  constexpr unsigned bits() const { return 1 + exponent + fraction; }
  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
};
inline constexpr Format kF16{5, 10}, kBf16{8, 7}, kF32{8, 23}, kF64{11, 52}, kTf32{8, 10};
inline constexpr Format kE5m2{5, 2}, kE4m3{4, 3, false, true, 1}, kE2m3{2, 3, false, false}, kE3m2{3, 2, false, false}, kE2m1{2, 1, false, false};

/// A number: NaN, ±infinity, or ±magnitude · 2^exponent, plus a part in (0, 1) units of the last place if `sticky`.
struct Number {
  enum class Kind : uint8_t {
    finite,
    infinite,
    nan
  } kind = Kind::finite;
  bool negative = false;
  Int magnitude = 0;
  int exponent = 0;
  bool sticky = false;
  bool zero() const { return kind == Kind::finite && magnitude == 0 && !sticky; }
};

Number decode(Format f, uint64_t code);
/// Replaces a subnormal input by zero of the same sign.
Number flush(Format f, Number n);

Number negate(Number a);
Number add(const Number& a, const Number& b, Round r);  // r selects the sign of an exact zero
Number mul(const Number& a, const Number& b);
Number div(const Number& a, const Number& b);
Number sqrt(const Number& a);

/// Conversion of a result to a format.
struct Encode {
  Round round = Round::rn;
  bool ftz = false;        // subnormal results become zeros
  bool saturate = false;   // .sat: to [0, 1], NaN to +0
  bool satfinite = false;  // overflow and infinity to the largest magnitude
  bool relu = false;       // negative to +0
  uint64_t nan = 0;        // the code of a NaN
};
uint64_t encode(Format f, const Number& n, const Encode& how);

/// The NaN of arithmetic (PTX ISA 9.7.3, 9.7.4): all ones below the sign.
constexpr uint64_t canonical_nan(Format f) { return f.bits() == 64 ? 0x7FF8000000000000ull : (uint64_t{1} << (f.bits() - 1)) - 1; }

}  // namespace drywell::kernels::conformance::ieee
