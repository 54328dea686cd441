#include "conformance/programs/ieee.h"

#include <algorithm>

namespace drywell::kernels::conformance::ieee {
namespace {

Number nan() { return {Number::Kind::nan}; }
Number infinity(bool negative) { return {Number::Kind::infinite, negative}; }

int compare_magnitude(const Number& a, const Number& b, Int& x, Int& y, int& exponent) {
  exponent = std::min(a.exponent, b.exponent);
  x = a.magnitude << (a.exponent - exponent);
  y = b.magnitude << (b.exponent - exponent);
  return x < y ? -1 : x > y ? 1
                            : 0;
}

bool rounds_up(Round r, bool negative, bool odd, bool half, bool below_half) {
  switch (r) {
    case Round::rn: return half && (below_half || odd);
    case Round::rna: return half;
    case Round::rz: return false;
    case Round::rm: return negative && (half || below_half);
    case Round::rp: return !negative && (half || below_half);
  }
  return false;
}

/// A magnitude in units of 2^unit, rounded.
Int rounded_to(const Number& n, int unit, Round r) {
  const int drop = unit - n.exponent;
  Int kept = drop >= 0 ? Int(n.magnitude >> drop) : Int(n.magnitude << -drop);
  const Int lost = drop > 0 ? Int(n.magnitude - (kept << drop)) : Int(0);
  const bool half = drop > 0 && (lost >> (drop - 1)) != 0;
  const bool below = (drop > 1 && (lost & ((Int(1) << (drop - 1)) - 1)) != 0) || n.sticky;
  if (rounds_up(r, n.negative, (kept & 1) != 0, half, below)) kept += 1;
  return kept;
}

// Whether .ftz makes a zero of a number whose highest bit is 2^top: it decides by the result with an unbounded exponent (H200).
bool subnormal(Format f, const Number& n, int top, Round r) {
  if (top >= 1 - f.bias()) return false;
  const auto digits = static_cast<int>(f.fraction);
  return top < -f.bias() || rounded_to(n, top - digits, r) >> (digits + 1) == 0;
}

}  // namespace

Number decode(Format f, uint64_t code) {
  const uint64_t fraction_mask = (uint64_t{1} << f.fraction) - 1, top = (uint64_t{1} << f.exponent) - 1;
  const bool negative = (code >> (f.bits() - 1) & 1) != 0;
  const uint64_t exponent = code >> f.fraction & top, fraction = code & fraction_mask;
  if (f.infinity && exponent == top) return fraction != 0 ? nan() : infinity(negative);
  if (f.top_codes_lost != 0 && exponent == top && fraction == fraction_mask) return nan();
  Number n;
  n.negative = negative;
  n.magnitude = exponent == 0 ? fraction : fraction | uint64_t{1} << f.fraction;
  n.exponent = static_cast<int>(std::max<uint64_t>(exponent, 1)) - f.bias() - static_cast<int>(f.fraction);
  return n;
}

Number flush(Format f, Number n) {
  const bool subnormal = n.kind == Number::Kind::finite && n.magnitude != 0 && n.magnitude < Int(1) << f.fraction &&
                         n.exponent == 1 - f.bias() - static_cast<int>(f.fraction);
  if (subnormal) n.magnitude = 0;
  return n;
}

Number negate(Number a) {
  a.negative = !a.negative;
  return a;
}

Number add(const Number& a, const Number& b, Round r) {
  if (a.kind == Number::Kind::nan || b.kind == Number::Kind::nan) return nan();
  if (a.kind == Number::Kind::infinite) return b.kind == Number::Kind::infinite && a.negative != b.negative ? nan() : a;
  if (b.kind == Number::Kind::infinite) return b;
  Int x, y;
  Number s;
  const int order = compare_magnitude(a, b, x, y, s.exponent);
  if (a.negative == b.negative) {
    s.magnitude = x + y;
    s.negative = a.negative;
  } else if (order == 0) {
    s.negative = r == Round::rm;  // IEEE 754-2019, 6.3
  } else {
    s.magnitude = order > 0 ? Int(x - y) : Int(y - x);
    s.negative = order > 0 ? a.negative : b.negative;
  }
  return s;
}

Number mul(const Number& a, const Number& b) {
  if (a.kind == Number::Kind::nan || b.kind == Number::Kind::nan) return nan();
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Kind::infinite || b.kind == Number::Kind::infinite) return a.zero() || b.zero() ? nan() : infinity(negative);
  return {Number::Kind::finite, negative, a.magnitude * b.magnitude, a.exponent + b.exponent};
}

Number div(const Number& a, const Number& b) {
  if (a.kind == Number::Kind::nan || b.kind == Number::Kind::nan) return nan();
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Kind::infinite) return b.kind == Number::Kind::infinite ? nan() : infinity(negative);
  if (b.kind == Number::Kind::infinite) return {Number::Kind::finite, negative};
  if (b.zero()) return a.zero() ? nan() : infinity(negative);
  constexpr int kShift = 128;  // more quotient bits than any format needs
  Number q{Number::Kind::finite, negative};
  Int rest;
  divide_qr(Int(a.magnitude << kShift), b.magnitude, q.magnitude, rest);
  q.exponent = a.exponent - b.exponent - kShift;
  q.sticky = rest != 0;
  return q;
}

Number sqrt(const Number& a) {
  if (a.kind == Number::Kind::nan) return nan();
  if (a.zero()) return a;
  if (a.negative) return nan();
  if (a.kind == Number::Kind::infinite) return a;
  const int odd = a.exponent & 1;
  constexpr int kShift = 256;
  Number q;
  Int rest;
  q.magnitude = boost::multiprecision::sqrt(Int(a.magnitude << (kShift + odd)), rest);
  q.exponent = (a.exponent - odd - kShift) / 2;
  q.sticky = rest != 0;
  return q;
}

uint64_t encode(Format f, const Number& n, const Encode& how) {
  const uint64_t sign = uint64_t{n.negative} << (f.bits() - 1);
  const uint64_t top = (uint64_t{1} << f.exponent) - 1;
  const uint64_t infinity_code = top << f.fraction;
  const uint64_t largest = f.infinity ? infinity_code - 1 : (uint64_t{1} << (f.bits() - 1)) - 1 - f.top_codes_lost;
  if (n.kind == Number::Kind::nan) return how.saturate ? 0 : how.nan;
  if ((how.relu || how.saturate) && n.negative) return 0;
  const uint64_t one = uint64_t(f.bias()) << f.fraction;
  if (n.kind == Number::Kind::infinite) {
    if (how.saturate) return one;
    return sign | (how.satfinite || !f.infinity ? largest : infinity_code);
  }
  if (n.zero()) return sign;
  // Keeps fraction + 1 bits, fewer near the bottom of the range.
  const int msb = n.magnitude == 0 ? -1 : static_cast<int>(boost::multiprecision::msb(n.magnitude));
  const int lowest = 1 - f.bias() - static_cast<int>(f.fraction);
  if (how.ftz && subnormal(f, n, msb + n.exponent, how.round)) return sign;
  const int unit = std::max(msb + n.exponent - static_cast<int>(f.fraction), lowest);
  const Int kept = rounded_to(n, unit, how.round);
  // Codes of one sign are in order, so a carry out of the fraction increments the exponent.
  const Int code = kept + (Int(unit - lowest) << f.fraction);
  if (how.saturate && code > one) return one;
  if (code > largest) {
    const bool to_infinity = how.round == Round::rn || how.round == Round::rna || (how.round == Round::rp && !n.negative) || (how.round == Round::rm && n.negative);
    return sign | (f.infinity && to_infinity && !how.satfinite ? infinity_code : largest);
  }
  return sign | static_cast<uint64_t>(code);
}

}  // namespace drywell::kernels::conformance::ieee
