// Layout of decoded operands, shared by operand decoding and the tile kernels. Private to sim/numeric.
#pragma once

#include <cstdint>

namespace drywell::numeric {

/// Rows of an operand are padded to a multiple of this, the widest vector of 16-bit lanes.
inline constexpr unsigned kColumnMultiple = 32;
/// Bytes that a kernel may read after the last row it needs.
inline constexpr unsigned kReadSlack = 64;
/// Relative raw exponents are between 0 and -kMaxExponentSpan; zero elements have kZeroExponent. A row with a larger span is
/// `wide`. A sum of two exponents fits 8 bits; a sum with a zero element is at most kZeroExponent.
inline constexpr int kMaxExponentSpan = 31;
inline constexpr int kZeroExponent = -64;
/// The same for wide rows.
inline constexpr int kWideZeroExponent = -12000;
/// Bytes of e2m1 elements have twice the value, -12 .. 12; those of side b have this added.
inline constexpr int kE2m1Bias = 12;
/// 1.5 * 2^23: the bits of the float kMagic + i, for a small integer i, are kMagicBits + i.
inline constexpr int32_t kMagicBits = 0x4B400000;
inline constexpr float kMagic = 12582912.0f;

}  // namespace drywell::numeric
