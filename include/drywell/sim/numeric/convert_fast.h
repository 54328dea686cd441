// Inline conversions for lane loops: 32-bit words in and out, without branches, so that the compiler can vectorize them.
// Each equals `convert` of convert.h bit for bit (tests/unit/numeric_convert_fast_test.cpp).
//
// They use float arithmetic only if it is exact or rounds to nearest even. The host must therefore use its default
// rounding mode and must not flush subnormals, as everywhere in Drywell.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

namespace detail {
/// The number of a word.
constexpr float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
/// The word of a number.
constexpr uint32_t as_bits(float v) { return std::bit_cast<uint32_t>(v); }
/// 2^e as a float word; -126 <= e <= 127.
constexpr uint32_t pow2_bits(int e) { return static_cast<uint32_t>(e + 127) << 23; }

/// Sign of f32 word `x` moved to the sign bit of F.
template <Format F>
constexpr uint32_t sign_of(uint32_t x) {
  return (x >> 31) << (format_info(F).bits() - 1);
}
/// Biased f32 exponent of the binade to whose grid |x| is rounded: at least that of F's smallest normal.
template <Format F>
constexpr uint32_t grid_exponent(uint32_t magnitude) {
  return std::max(magnitude >> 23, static_cast<uint32_t>(format_info(F).min_exponent() + 127));
}
/// Upper bound for magnitudes: inputs that overflow still overflow, and every intermediate value is in range.
template <Format F>
constexpr uint32_t kClamp = pow2_bits(format_info(F).bias + 2);

/// Returns the final code for a magnitude of `units` grid units at `exponent`.
template <Format F, bool Satfinite>
constexpr uint32_t finish(uint32_t x, uint32_t units, uint32_t exponent) {
  constexpr const FormatInfo& in = format_info(F);
  constexpr uint32_t kTop = Satfinite || !in.has_infinity() ? in.max_finite : in.infinity();
  const uint32_t magnitude = x & 0x7FFFFFFF;
  const uint32_t base = (exponent - static_cast<uint32_t>(in.min_exponent() + 127)) << in.fraction_bits;
  const uint32_t code = std::min(units + base, kTop) | sign_of<F>(x);
  return magnitude > 0x7F800000 ? in.nan_result : code;
}
}  // namespace detail

/// cvt.rn{.satfinite}.F.f32 for F = e2m1, e2m3, e3m2, e4m3, e5m2, f16. The narrow formats always saturate.
template <Format F, bool Satfinite = (format_info(F).bits() <= 8)>
constexpr uint32_t narrow_rn(uint32_t x) {
  using namespace detail;
  const uint32_t magnitude = std::min(x & 0x7FFFFFFF, kClamp<F>);
  const uint32_t e = grid_exponent<F>(magnitude);
  // After the addition of 2^(e + 23 - m), one unit of the target grid is the last place: the addition rounds.
  const uint32_t magic = (e + 23 - format_info(F).fraction_bits) << 23;
  return finish<F, Satfinite>(x, as_bits(as_float(magnitude) + as_float(magic)) - magic, e);
}

/// cvt.rz{.satfinite}.F.f32 for the same F; without satfinite an infinite input remains infinite.
template <Format F, bool Satfinite = (format_info(F).bits() <= 8)>
constexpr uint32_t narrow_rz(uint32_t x) {
  using namespace detail;
  // The float before the first power of two that does not fit; formats without infinity use the top exponent for
  // numbers.
  constexpr uint32_t kMax = pow2_bits(format_info(F).bias + (format_info(F).has_infinity() ? 1 : 2)) - 1;
  const bool keep_infinity = !Satfinite && format_info(F).has_infinity() && (x & 0x7FFFFFFF) == 0x7F800000;
  const uint32_t magnitude = std::min(x & 0x7FFFFFFF, keep_infinity ? kClamp<F> : kMax);
  const uint32_t e = grid_exponent<F>(magnitude);
  const uint32_t scale = (254 + format_info(F).fraction_bits - e) << 23;  // one grid unit becomes 1.0
  const auto units = static_cast<int32_t>(as_float(magnitude) * as_float(scale));
  return finish<F, Satfinite>(x, static_cast<uint32_t>(units), e);
}

/// cvt.rs{.satfinite}.F.f32 for the same F with the element's random integer `random` (13 bits wide for f16,
/// otherwise 16). The position of R for an f16 result below the smallest normal is not public; here it is the top of
/// the discarded field, as in the x4 forms.
template <Format F, bool Satfinite = (format_info(F).bits() <= 8)>
constexpr uint32_t narrow_rs(uint32_t x, uint32_t random) {
  using namespace detail;
  constexpr unsigned kWidth = F == Format::f16 ? 13 : 16;
  const uint32_t magnitude = std::min(x & 0x7FFFFFFF, kClamp<F>);
  const uint32_t e = grid_exponent<F>(magnitude);
  const uint32_t scale = (254 + format_info(F).fraction_bits + kWidth - e)
                         << 23;  // 2^-width grid units become 1.0
  const auto units = static_cast<int32_t>(as_float(magnitude) * as_float(scale));
  return finish<F, Satfinite>(x, (static_cast<uint32_t>(units) + random) >> kWidth, e);
}

/// cvt.rn{.satfinite}.bf16.f32
template <bool Satfinite = false>
constexpr uint32_t f32_to_bf16_rn(uint32_t x) {
  const uint32_t rounded = ((x & 0x7FFFFFFF) + 0x7FFF + (x >> 16 & 1)) >> 16;
  const uint32_t code = (Satfinite ? std::min(rounded, uint32_t{0x7F7F}) : rounded) | (x >> 31) << 15;
  return (x & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : code;
}
/// cvt.rz{.satfinite}.bf16.f32
template <bool Satfinite = false>
constexpr uint32_t f32_to_bf16_rz(uint32_t x) {
  const uint32_t cut = (x & 0x7FFFFFFF) >> 16;
  const uint32_t code = (Satfinite ? std::min(cut, uint32_t{0x7F7F}) : cut) | (x >> 31) << 15;
  return (x & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : code;
}
/// cvt.rs{.satfinite}.bf16.f32 with a 16-bit random integer.
template <bool Satfinite = false>
constexpr uint32_t f32_to_bf16_rs(uint32_t x, uint32_t random) {
  const bool infinite = (x & 0x7FFFFFFF) == 0x7F800000;
  const uint32_t rounded = ((x & 0x7FFFFFFF) + (infinite ? 0 : random)) >> 16;
  const uint32_t code = (Satfinite ? std::min(rounded, uint32_t{0x7F7F}) : rounded) | (x >> 31) << 15;
  return (x & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : code;
}
/// cvt.f32.bf16: NaN payloads and signalling NaNs pass unchanged (measured, docs/facts/numerics.md §2.1).
constexpr uint32_t bf16_to_f32(uint32_t code) { return code << 16; }

/// cvt.rn.f16.f32.
constexpr uint32_t f32_to_f16_rn(uint32_t x) { return narrow_rn<Format::f16>(x); }
/// cvt.rz.f16.f32.
constexpr uint32_t f32_to_f16_rz(uint32_t x) { return narrow_rz<Format::f16>(x); }
/// cvt.rs.f16x2.f32, of one element.
constexpr uint32_t f32_to_f16_rs(uint32_t x, uint32_t random) { return narrow_rs<Format::f16>(x, random); }
/// cvt.rn.satfinite.e2m1x2.f32, of one element.
constexpr uint32_t f32_to_e2m1_rn(uint32_t x) { return narrow_rn<Format::e2m1>(x); }
/// cvt.rs.satfinite.e2m1x4.f32, of one element.
constexpr uint32_t f32_to_e2m1_rs(uint32_t x, uint32_t random) { return narrow_rs<Format::e2m1>(x, random); }
/// cvt.rn.satfinite.e2m3x2.f32, of one element.
constexpr uint32_t f32_to_e2m3_rn(uint32_t x) { return narrow_rn<Format::e2m3>(x); }
/// cvt.rn.satfinite.e3m2x2.f32, of one element.
constexpr uint32_t f32_to_e3m2_rn(uint32_t x) { return narrow_rn<Format::e3m2>(x); }
/// cvt.rn.satfinite.e4m3x2.f32, of one element.
constexpr uint32_t f32_to_e4m3_rn(uint32_t x) { return narrow_rn<Format::e4m3>(x); }
/// cvt.rs.satfinite.e4m3x4.f32, of one element.
constexpr uint32_t f32_to_e4m3_rs(uint32_t x, uint32_t random) { return narrow_rs<Format::e4m3>(x, random); }
/// cvt.rn.satfinite.e5m2x2.f32, of one element.
constexpr uint32_t f32_to_e5m2_rn(uint32_t x) { return narrow_rn<Format::e5m2>(x); }
/// cvt.rs.satfinite.e5m2x4.f32, of one element.
constexpr uint32_t f32_to_e5m2_rs(uint32_t x, uint32_t random) { return narrow_rs<Format::e5m2>(x, random); }

/// cvt.f32.f16; every NaN becomes 7FFFFFFF.
constexpr uint32_t f16_to_f32(uint32_t code) {
  using namespace detail;
  const uint32_t magnitude = (code & 0x7FFF) << 13;
  const uint32_t finite = as_bits(as_float(magnitude) * as_float(pow2_bits(112)));
  const uint32_t value = magnitude >= 0x0F800000 ? 0x7F800000 : finite;
  return magnitude > 0x0F800000 ? 0x7FFFFFFF : (value | (code & 0x8000) << 16);
}

/// F = e2m1, e2m3, e3m2, e4m3, ue4m3, e5m2 to f32, exact: exponent and fraction are shifted into their fields, and one
/// exact float multiplication changes the bias. NaN becomes 7FFFFFFF.
template <Format F>
constexpr uint32_t narrow_to_f32(uint32_t code) {
  using namespace detail;
  constexpr const FormatInfo& in = format_info(F);
  constexpr uint32_t kMagnitudeMask = (uint32_t{1} << (in.exponent_bits + in.fraction_bits)) - 1;
  const uint32_t magnitude = code & kMagnitudeMask;
  const uint32_t finite =
      as_bits(as_float(magnitude << (23 - in.fraction_bits)) * as_float(pow2_bits(127 - in.bias)));
  const uint32_t sign = in.sign_bits == 0 ? 0 : (code >> (in.bits() - 1) & 1) << 31;
  if constexpr (in.nan_codes == NanCodes::all_ones) {
    return magnitude == kMagnitudeMask ? 0x7FFFFFFF : finite | sign;
  } else if constexpr (in.nan_codes == NanCodes::ieee) {
    const uint32_t value = magnitude >= in.infinity() ? 0x7F800000 : finite;
    return magnitude > in.infinity() ? 0x7FFFFFFF : value | sign;
  } else {
    return finite | sign;
  }
}
/// cvt.rn.f16.F, exact; NaN becomes 7FFF.
template <Format F>
constexpr uint32_t narrow_to_f16(uint32_t code) {
  return f32_to_f16_rn(narrow_to_f32<F>(code));
}
/// cvt.rn.f16x2.e4m3x2, of one element.
constexpr uint32_t e4m3_to_f16(uint32_t code) { return narrow_to_f16<Format::e4m3>(code); }
/// cvt.rn.f16x2.e5m2x2, of one element.
constexpr uint32_t e5m2_to_f16(uint32_t code) {
  const uint32_t word = (code & 0xFF) << 8;
  return (word & 0x7FFF) > 0x7C00 ? 0x7FFF : word;
}

/// cvt.rz{.satfinite}.ue8m0.f32
template <bool Satfinite>
constexpr uint32_t f32_to_ue8m0_rz(uint32_t x) {
  const uint32_t magnitude = x & 0x7FFFFFFF;
  const uint32_t code = Satfinite ? std::min(magnitude >> 23, uint32_t{0xFE}) : magnitude >> 23;
  return magnitude > 0x7F800000 ? 0xFF : code;
}
/// cvt.rp{.satfinite}.ue8m0.f32: |x| <= 2^-127 becomes code 0.
template <bool Satfinite>
constexpr uint32_t f32_to_ue8m0_rp(uint32_t x) {
  const uint32_t magnitude = x & 0x7FFFFFFF;
  const uint32_t up = (magnitude & 0x7FFFFF) != 0 && magnitude > 0x00400000 ? 1 : 0;
  const uint32_t rounded = (magnitude >> 23) + up;
  const uint32_t code = Satfinite ? std::min(rounded, uint32_t{0xFE}) : rounded;
  return magnitude > 0x7F800000 ? 0xFF : code;
}
/// cvt.rn.bf16.ue8m0, exact.
constexpr uint32_t ue8m0_to_bf16(uint32_t code) {
  const uint32_t finite = (code & 0xFF) == 0 ? 0x0040 : (code & 0xFF) << 7;
  return (code & 0xFF) == 0xFF ? 0x7FFF : finite;
}

/// cvt.{rn,rz,rna}.tf32.f32; rna keeps the sign and upper payload of a NaN (measured, docs/facts/numerics.md
/// §2.1).
constexpr uint32_t f32_to_tf32_rn(uint32_t x) {
  const uint32_t rounded = (x + 0xFFF + (x >> 13 & 1)) & ~uint32_t{0x1FFF};
  return (x & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFFE000 : rounded;
}
/// cvt.rz.tf32.f32.
constexpr uint32_t f32_to_tf32_rz(uint32_t x) {
  return (x & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFFE000 : x & ~uint32_t{0x1FFF};
}
/// cvt.rna.tf32.f32.
constexpr uint32_t f32_to_tf32_rna(uint32_t x) {
  const uint32_t half = (x & 0x7FFFFFFF) > 0x7F800000 ? 0 : 0x1000;
  return (x + half) & ~uint32_t{0x1FFF};
}

}  // namespace drywell::numeric
