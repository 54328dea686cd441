// Format conversions of PTX `cvt` (docs/facts/numerics.md §2): one exact definition for every pair of formats,
// packing of the x2 and x4 forms, and the distribution of random bits over the elements of the `.rs` forms.
//
// `convert` is the slow, obvious definition. convert_fast.h has fast inline versions of the frequent conversions;
// `convert_lanes` uses one of them if it exists.
#pragma once

#include <array>
#include <cstdint>

#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

/// A conversion: cvt without its value.
struct ConvertSpec {
  Format dst = Format::f32;          // of the result
  Format src = Format::f32;          // of the operand
  Rounding rounding = Rounding::rn;  // where the result is not exact
  bool satfinite = false;            // implied by PTX for every target below 16 bits
  bool relu = false;                 // negative results (and -0) become +0
  bool ftz = false;                  // f32 subnormals, source or result, become zero of the same sign
  constexpr bool operator==(const ConvertSpec&) const = default;
};

/// Converts one element. `random` is the element's random integer for Rounding::rs (see `random_bits_x2/x4`)
/// and is ignored otherwise. Codes are right-aligned; bits of `code` outside the source format are ignored.
uint32_t convert(const ConvertSpec& spec, uint32_t code, uint32_t random = 0);

/// Converts one element times 2^(scale - 127), rounded once (PTX ISA, cvt with .scaled::n2::ue8m0). Scale 255 is NaN.
/// For sources without stochastic rounding.
uint32_t convert_scaled(const ConvertSpec& spec, uint32_t code, uint32_t scale);

/// Width of the random integer of one element in the `.rs` form with this target: 13 for f16, otherwise 16.
constexpr unsigned random_width(Format dst) { return dst == Format::f16 ? 13 : 16; }

/// `convert` for `n` elements; `random` may be null unless the rounding is rs. in and out may be the same
/// array.
void convert_lanes(const ConvertSpec& spec, const uint32_t* in, uint32_t* out, unsigned n,
                   const uint32_t* random = nullptr);

/// Bits of one element in a packed word: 4 for e2m1, 8 for the other narrow formats (6-bit codes are zero-padded),
/// 16 for f16 and bf16.
constexpr unsigned packed_bits(Format f) {
  return f == Format::e2m1 ? 4 : format_info(f).bits() <= 8 ? 8
                                                            : format_info(f).bits();
}

/// `cvt.…x2 d, a, b`: a takes the high half, b the low half (PTX ISA, cvt).
constexpr uint32_t pack_x2(Format f, uint32_t a, uint32_t b) { return a << packed_bits(f) | b; }
/// `cvt.rs.…x4 d, {a, b, e, f}`: a takes the top quarter, f the lowest.
constexpr uint32_t pack_x4(Format format, uint32_t a, uint32_t b, uint32_t e, uint32_t f) {
  const unsigned w = packed_bits(format);
  return a << 3 * w | b << 2 * w | e << w | f;
}
/// Element `i` of a packed word, i = 0 the lowest.
constexpr uint32_t unpack(Format f, uint32_t word, unsigned i) {
  const unsigned w = packed_bits(f);
  return word >> i * w & ((uint32_t{1} << w) - 1);
}

/// The 8 bits in the opposite order.
constexpr uint32_t reverse_bits8(uint32_t v) {
  v = (v & 0xF0) >> 4 | (v & 0x0F) << 4;
  v = (v & 0xCC) >> 2 | (v & 0x33) << 2;
  return (v & 0xAA) >> 1 | (v & 0x55) << 1;
}
/// The 16 bits in the opposite order.
constexpr uint32_t reverse_bits16(uint32_t v) {
  return reverse_bits8(v & 0xFF) << 8 | reverse_bits8(v >> 8 & 0xFF);
}

/// The random integers of `cvt.rs.{f16x2,bf16x2}.f32 d, a, b, rbits`, for {a, b} (PTX ISA, cvt).
constexpr std::array<uint32_t, 2> random_bits_x2(Format dst, uint32_t rbits) {
  const uint32_t mask = (uint32_t{1} << random_width(dst)) - 1;
  return {rbits >> 16 & mask, rbits & mask};
}

/// The random integers of `cvt.rs.….x4.f32 d, {a, b, e, f}, rbits`, in that order. The two elements of a pair
/// read the same 16 bits, one of them reversed (docs/facts/numerics.md §2.2; measured for e2m1, e4m3 and e5m2; the
/// fp6 forms follow the same PTX rule and were not measured).
constexpr std::array<uint32_t, 4> random_bits_x4(Format dst, uint32_t rbits) {
  const uint32_t hi = rbits >> 16, lo = rbits & 0xFFFF;
  if (dst != Format::e2m1) return {reverse_bits16(hi), hi, reverse_bits16(lo), lo};
  const uint32_t b3 = rbits >> 24, b2 = rbits >> 16 & 0xFF, b1 = rbits >> 8 & 0xFF, b0 = rbits & 0xFF;
  return {reverse_bits8(b1) << 8 | reverse_bits8(b3), b3 << 8 | b1,  //
          reverse_bits8(b0) << 8 | reverse_bits8(b2), b2 << 8 | b0};
}

/// One packed source, `cvt.….dx2.sx2 d, a` (e4m3x2.f16x2, f16x2.e2m1x2, bf16x2.ue8m0x2, …) over `n` lanes.
void convert_packed_lanes(const ConvertSpec& spec, const uint32_t* a, uint32_t* d, unsigned n);
/// `cvt.….scaled::n2::ue8m0.….sx2 d, a, scale`: each element of `a` has its ue8m0 scale at the same place of `scale`.
void convert_scaled_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* scale, uint32_t* d, unsigned n);
/// Two-source form `cvt.…x2 d, a, b{, rbits}` over `n` lanes; `rbits` is null unless the rounding is rs.
void convert_x2_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* b, const uint32_t* rbits,
                      uint32_t* d, unsigned n);
/// Four-source form `cvt.rs.…x4 d, {a, b, e, f}, rbits` over `n` lanes.
void convert_x4_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* b, const uint32_t* e,
                      const uint32_t* f, const uint32_t* rbits, uint32_t* d, unsigned n);

}  // namespace drywell::numeric
