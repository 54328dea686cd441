// How decoded operands lie in memory: what operand decoding and the kernels of a tile agree on. Private to sim/numeric.
#pragma once

#include <cstdint>

namespace drywell::numeric {

/// Rows of an operand are padded to a multiple of this, the widest vector of 16-bit lanes.
inline constexpr unsigned kColumnMultiple = 32;
/// Bytes a kernel may read past the last row it is asked for.
inline constexpr unsigned kReadSlack = 64;
/// Relative raw exponents reach from 0 down to -kMaxExponentSpan; zero elements have kZeroExponent. A row that spans more
/// is `wide`. The sum of two fits 8 bits, and one that a zero takes part in is told by its size.
inline constexpr int kMaxExponentSpan = 31;
inline constexpr int kZeroExponent = -64;
/// The same for wide rows.
inline constexpr int kWideZeroExponent = -12000;
/// Bytes of e2m1 elements hold twice the value, -12 .. 12; those of side b plus this.
inline constexpr int kE2m1Bias = 12;
/// 1.5 * 2^23: the bits of a float this large plus a small integer are the bits of this plus that integer.
inline constexpr int32_t kMagicBits = 0x4B400000;
inline constexpr float kMagic = 12582912.0f;

}  // namespace drywell::numeric
