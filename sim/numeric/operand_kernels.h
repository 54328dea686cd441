// SIMD decoding of matrix operands, a vector of rows at a time. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/numeric/format.h"
#include "sim/numeric/tile_layout.h"

namespace drywell::numeric {

/// Codes of one operand, [word][row], and what comes of them. All rows are padded to kColumnMultiple.
struct DecodeTask {
  Format format;
  unsigned element_bits;  // distance of elements in a word: 4, 8, 16 or 32
  unsigned words, rows;   // rows: padded
  const uint32_t* codes;
  float* values;        // [k][row], scaled by 2^-row_exponent
  int8_t* exponents;    // raw exponent relative to row_exponent
  int32_t* row_exponents;
  int32_t* tops;        // per row: largest raw exponent; kNoTop if all elements are zero
  int32_t* bottoms;     // smallest raw exponent of a non-zero element
  int32_t* lowest;      // exponent of a bit that all elements are multiples of
  uint32_t* specials;   // non-zero: the row has infinities or NaNs
};
inline constexpr int32_t kNoTop = -100000;

/// f16 and narrower formats are scaled by one fixed exponent, bf16 and tf32 by that of the row's largest element.
void decode_values(const DecodeTask& task);

/// Words of eight e2m1 codes into two words of bytes of twice their values, plus `bias`.
void decode_e2m1(const uint32_t* codes, unsigned words, unsigned rows, int bias, uint32_t* bytes);

}  // namespace drywell::numeric
