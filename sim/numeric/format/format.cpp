#include "drywell/sim/numeric/format.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "drywell/core/error.h"

namespace drywell::numeric {

double to_double(Format f, uint32_t code) {
  const Decoded d = decode(f, code);
  double magnitude = 0;
  switch (d.cls) {
    case FpClass::zero: break;
    case FpClass::finite: magnitude = std::ldexp(static_cast<double>(d.significand), d.lsb_exponent); break;
    case FpClass::infinity: magnitude = std::numeric_limits<double>::infinity(); break;
    case FpClass::nan: return std::numeric_limits<double>::quiet_NaN();
  }
  return d.negative ? -magnitude : magnitude;
}

float to_float(Format f, uint32_t code) { return static_cast<float>(to_double(f, code)); }

uint64_t round_shift(uint64_t significand, int shift, Rounding mode, bool negative, RandomBits random) {
  if (significand == 0) return 0;
  if (shift <= 0) return significand << -shift;
  // The discarded part, a field of exactly `shift` bits, is compared with 0, 1/2 and the random threshold. For shifts
  // above 64 it is below one half.
  const uint64_t kept = shift < 64 ? significand >> shift : 0;
  const uint64_t rest = shift < 64 ? significand & ((uint64_t{1} << shift) - 1) : significand;
  const uint64_t half = shift <= 64 ? uint64_t{1} << (shift - 1) : 0;  // 0: rest is always below one half
  const bool tie = half != 0 && rest == half;
  const bool above_half = half != 0 && rest > half;
  switch (mode) {
    case Rounding::rn: return kept + ((above_half || (tie && (kept & 1) != 0)) ? 1 : 0);
    case Rounding::rna: return kept + ((above_half || tie) ? 1 : 0);
    case Rounding::rz: return kept;
    case Rounding::rm: return kept + (negative && rest != 0 ? 1 : 0);
    case Rounding::rp: return kept + (!negative && rest != 0 ? 1 : 0);
    case Rounding::rs: {
      const int width = static_cast<int>(random.width);
      const int drop = shift - width;  // t = floor(rest / 2^shift * 2^width)
      const uint64_t t = drop >= 64 ? 0 : drop >= 0 ? rest >> drop
                                                    : rest << -drop;
      return kept + ((t + random.bits) >> width);
    }
  }
  throw InternalError("round_shift: unknown rounding mode");
}

uint32_t encode(Format f, bool negative, uint64_t significand, int exponent, Rounding mode, bool satfinite,
                RandomBits random) {
  const FormatInfo& in = format_info(f);
  DRYWELL_CHECK(f != Format::ue8m0, "ue8m0 has its own conversion rules");
  const uint32_t sign = negative ? in.sign_mask() : 0;
  if (significand == 0) return sign;
  const int top = exponent + 63 - std::countl_zero(significand);
  const bool rounds_away = mode == Rounding::rm   ? negative
                           : mode == Rounding::rp ? !negative
                                                  : mode != Rounding::rz;
  const bool can_overflow = !satfinite && rounds_away && in.has_nan();
  const uint32_t overflow =
      can_overflow ? (in.has_infinity() ? in.infinity() : in.nan_result) : in.max_finite;
  if (top > in.bias + 1) return sign | overflow;  // at least twice the largest binade: limits the shift below

  const int e = std::max(top, in.min_exponent());
  const int quantum = e - in.fraction_bits;
  const uint64_t units = round_shift(significand, quantum - exponent, mode, negative, random);
  // The hidden bit of `units` adds one to the exponent field, so that a carry from the rounding needs no special case.
  const uint64_t code = (units + (static_cast<uint64_t>(e - in.min_exponent()) << in.fraction_bits))
                        << in.pad_bits;
  if (code > in.max_finite) return sign | overflow;
  return sign | static_cast<uint32_t>(code);
}

}  // namespace drywell::numeric
