// Number formats of the tensor-core datapath as data: one descriptor per format, one decoder, one exact
// encoder.
//
// Sources: docs/facts/numerics.md §1 (value tables), PTX ISA "Alternate Floating-Point Data Formats", OCP MX v1.0.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace drywell::numeric {

/// The formats, by PTX's names.
enum class Format : uint8_t {
  e2m1,
  e2m3,
  e3m2,
  e4m3,
  e5m2,
  ue4m3,
  ue8m0,
  tf32,
  bf16,
  f16,
  f32
};
inline constexpr unsigned kFormatCount = 11;  // of Format

/// The codes that are NaN.
enum class NanCodes : uint8_t {
  none,      // every code is a number
  all_ones,  // exponent and fraction all ones only (e4m3, ue4m3, ue8m0); the format has no infinity
  ieee,      // top exponent with a non-zero fraction; fraction zero is infinity
};

/// A binary format: sign | exponent | fraction, most significant bit first, above `pad_bits` ignored low
/// bits.
struct FormatInfo {
  std::string_view name;                            // as PTX writes it
  uint8_t sign_bits, exponent_bits, fraction_bits;  // widths of the fields; 0: no such field
  uint8_t pad_bits;                                 // 13 for tf32, which uses the top 19 bits of a 32-bit word
  int16_t bias;                                     // subtracted from the exponent field
  NanCodes nan_codes;                               // codes that are no numbers
  uint32_t nan_result;                              // the word that a conversion or MMA writes for NaN; max_finite if the format has no NaN
  uint32_t max_finite;                              // positive code of the largest finite value

  /// Width of a code with its padding.
  constexpr unsigned bits() const { return sign_bits + exponent_bits + fraction_bits + pad_bits; }
  /// True if a code is infinity.
  constexpr bool has_infinity() const { return nan_codes == NanCodes::ieee; }
  /// True if a code is NaN.
  constexpr bool has_nan() const { return nan_codes != NanCodes::none; }
  /// The sign's bit; 0 without a sign.
  constexpr uint32_t sign_mask() const { return sign_bits == 0 ? 0 : uint32_t{1} << (bits() - 1); }
  /// The code of plus infinity, if has_infinity().
  constexpr uint32_t infinity() const {
    return ((uint32_t{1} << exponent_bits) - 1) << (fraction_bits + pad_bits);
  }
  /// Exponent of the smallest normal value and of the subnormals.
  constexpr int min_exponent() const { return 1 - bias; }
};

namespace detail {
/// By Format.
inline constexpr std::array<FormatInfo, kFormatCount> kFormats = {{
    {"e2m1", 1, 2, 1, 0, 1, NanCodes::none, 0x7, 0x7},
    {"e2m3", 1, 2, 3, 0, 1, NanCodes::none, 0x1F, 0x1F},
    {"e3m2", 1, 3, 2, 0, 3, NanCodes::none, 0x1F, 0x1F},
    {"e4m3", 1, 4, 3, 0, 7, NanCodes::all_ones, 0x7F, 0x7E},
    {"e5m2", 1, 5, 2, 0, 15, NanCodes::ieee, 0x7F, 0x7B},
    {"ue4m3", 0, 4, 3, 0, 7, NanCodes::all_ones, 0x7F, 0x7E},
    {"ue8m0", 0, 8, 0, 0, 127, NanCodes::all_ones, 0xFF, 0xFE},
    {"tf32", 1, 8, 10, 13, 127, NanCodes::ieee, 0x7FFFE000, 0x7F7FE000},
    {"bf16", 1, 8, 7, 0, 127, NanCodes::ieee, 0x7FFF, 0x7F7F},
    {"f16", 1, 5, 10, 0, 15, NanCodes::ieee, 0x7FFF, 0x7BFF},
    {"f32", 1, 8, 23, 0, 127, NanCodes::ieee, 0x7FFFFFFF, 0x7F7FFFFF},
}};
}  // namespace detail

/// The descriptor of a format.
constexpr const FormatInfo& format_info(Format f) { return detail::kFormats[static_cast<unsigned>(f)]; }

/// What a code is.
enum class FpClass : uint8_t {
  zero,
  finite,
  infinity,
  nan
};

/// A decoded code. For zero and finite values: value = (-1)^negative * significand * 2^lsb_exponent.
struct Decoded {
  FpClass cls = FpClass::zero;  // what it is
  bool negative = false;        // its sign bit
  uint32_t significand = 0;     // an integer
  int lsb_exponent = 0;         // exponent of the significand's lowest bit
  /// max(exponent field, 1) - bias: the exponent of the encoding, not of the normalized value. The MMA alignment
  /// window uses this exponent (docs/facts/numerics.md §1, §3.1).
  int raw_exponent = 0;  // the exponent field, without its bias taken off

  /// True for NaN.
  constexpr bool is_nan() const { return cls == FpClass::nan; }
  /// True for either infinity.
  constexpr bool is_infinity() const { return cls == FpClass::infinity; }
  /// True for either zero.
  constexpr bool is_zero() const { return cls == FpClass::zero; }
};

/// Decodes `code`; bits outside the format (container padding, bit 7 of ue4m3, low 13 bits of tf32) are
/// ignored.
constexpr Decoded decode(Format f, uint32_t code) {
  const FormatInfo& in = format_info(f);
  const uint32_t exponent_max = (uint32_t{1} << in.exponent_bits) - 1;
  const uint32_t fraction_max = (uint32_t{1} << in.fraction_bits) - 1;
  const uint32_t fraction = (code >> in.pad_bits) & fraction_max;
  const uint32_t exponent = (code >> (in.pad_bits + in.fraction_bits)) & exponent_max;
  Decoded d;
  d.negative = (code & in.sign_mask()) != 0;
  if (f == Format::ue8m0) {  // no fraction, no zero: 2^(code - 127)
    d.cls = exponent == exponent_max ? FpClass::nan : FpClass::finite;
    d.significand = 1;
    d.raw_exponent = d.lsb_exponent = static_cast<int>(exponent) - in.bias;
    return d;
  }
  d.significand = fraction | (exponent != 0 ? uint32_t{1} << in.fraction_bits : 0);
  d.raw_exponent = static_cast<int>(exponent != 0 ? exponent : 1) - in.bias;
  d.lsb_exponent = d.raw_exponent - in.fraction_bits;
  d.cls = d.significand == 0 ? FpClass::zero : FpClass::finite;
  if (in.nan_codes == NanCodes::all_ones && exponent == exponent_max && fraction == fraction_max) {
    d.cls = FpClass::nan;
  }
  if (in.nan_codes == NanCodes::ieee && exponent == exponent_max) {
    d.cls = fraction == 0 ? FpClass::infinity : FpClass::nan;
  }
  return d;
}

/// The value of `code` as a double; every format here is exact in double. NaN becomes the quiet NaN.
double to_double(Format f, uint32_t code);
/// The same as a float, also exact (f32 subnormals included).
float to_float(Format f, uint32_t code);

/// Rounding modes, by PTX's names.
enum class Rounding : uint8_t {
  rn,   // nearest, ties to even
  rz,   // toward zero
  rm,   // toward minus infinity
  rp,   // toward plus infinity
  rna,  // nearest, ties away from zero
  rs,   // stochastic: random bits are added to the top of the discarded field (docs/facts/numerics.md §2.2)
};

/// Random bits of Rounding::rs: `bits`, `width` wide, aligned with the top of the discarded field.
struct RandomBits {
  uint32_t bits = 0;    // the random bits
  unsigned width = 16;  // their number
};

/// significand * 2^-shift rounded to an integer; only rm and rp use the sign. Shifts <= 0 are exact and must not overflow
/// 64 bits.
uint64_t round_shift(uint64_t significand, int shift, Rounding mode, bool negative, RandomBits random = {});

/// (-1)^negative * significand * 2^exponent encoded in `f` (any format but ue8m0). Overflow saturates to max_finite with
/// `satfinite`, if the rounding mode rounds toward zero, or if the format has neither infinity nor NaN; otherwise the
/// result is infinity, or NaN in a format without infinity. Zero keeps its sign.
uint32_t encode(Format f, bool negative, uint64_t significand, int exponent, Rounding mode, bool satfinite,
                RandomBits random = {});

}  // namespace drywell::numeric
