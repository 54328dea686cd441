// SIMD decoding of matrix operands in vectors of rows. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/numeric/format.h"
#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Codes of one operand, [word][row], and the arrays decoded from them. All rows are padded to kColumnMultiple.
struct DecodeTask {
  Format format;
  unsigned element_bits;  // distance of elements in a word: 4, 8, 16 or 32
  unsigned words, rows;   // rows: padded
  const uint32_t* codes;
  float* values;      // [k][row], scaled by 2^-row_exponent
  int8_t* exponents;  // raw exponent relative to row_exponent
  int32_t* row_exponents;
  int32_t* tops;       // per row: largest raw exponent; kNoTop if all elements are zero
  int32_t* bottoms;    // smallest raw exponent of a non-zero element
  int32_t* lowest;     // all elements are multiples of 2^lowest
  uint32_t* specials;  // non-zero: the row has infinities or NaNs
};
inline constexpr int32_t kNoTop = -100000;

/// f16 and narrower formats are scaled by one fixed exponent, bf16 and tf32 by the exponent of the row's largest element.
void decode_values(const DecodeTask& task);

/// Decodes each word of eight e2m1 codes into two words of bytes: twice the value, plus `bias`.
void decode_e2m1(const uint32_t* codes, unsigned words, unsigned rows, int bias, uint32_t* bytes);

/// kMagicBits less kE2m1Bias times the sum of each group of four words of bytes.
void group_biases(const uint32_t* bytes, unsigned groups, unsigned rows, int32_t* biases);

/// Block scales of a grouped kind: one byte per `groups_per_scale` groups, four in a word.
struct ScaleTask {
  Format format;  // ue8m0 or ue4m3
  unsigned groups, groups_per_scale, rows;
  const uint32_t* codes;  // [word][row]
  float factor;           // multiplies the values
  float* scales;          // [group][row]; 0 if the code is zero or NaN
  float* magic_scales;    // -kMagic times that
  int32_t* exponents;     // raw; kNoScale if the scale is 0
  int32_t* tops;          // per row: largest exponent, at least kNoScale
  int32_t* lowest;        // smallest exponent, at most -kNoScale
  uint32_t* specials;     // non-zero: NaN among them
};
/// Exponent of a zero scale: so small that sums with any other exponent are small, too.
inline constexpr int32_t kNoScale = -100000;
void decode_scales(const ScaleTask& task);

}  // namespace drywell::numeric
