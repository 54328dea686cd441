// Block-scaled e2m1 on the tile unit (tile_unit.h): an element times its group's scale has at most six significant bits, so
// it is a bf16. Private to sim/numeric.
#pragma once

#include "sim/numeric/tile_unit.h"

namespace drywell::numeric {

/// All e2m1 values times one scale: bytes of bf16 by code.
struct ScaledE2m1 {
  uint8_t low[16], high[16];
};
struct ScaleTable {
  static constexpr int kZero = -100000;  // exponent of a scale that is zero
  static constexpr int kUnfit = 100000;  // of one that is NaN, or so large or small that products might leave bf16's range
  ScaledE2m1 values[256];
  int32_t exponents[256];  // raw
  int32_t lowest_bits[256];  // of the products
};

/// 64 elements a row, 32 bytes; scales for 16 or 32 neighbours.
struct ScaledRows {
  const uint8_t* codes;
  const uint8_t* scales;
  size_t stride, scale_stride;
  unsigned rows;  // a multiple of kTileRows
  unsigned scales_per_row;
  bool negate;
  const ScaleTable* table;
};
inline constexpr unsigned kScaledPlanes = 2;  // of kTileK elements

/// What is known about rows.
struct ScaledBounds {
  int32_t* tops;    // largest raw exponent of a scale; kZero if there is none
  int32_t* lowest;  // smallest; -kZero
  float* spans;     // the square of the row's length, over that of the lowest bit of its elements
};
/// The rows' tiles: plane p of tile t at tiles + (p * rows / 16 + t) * kTileBytes. False if a scale is unfit.
bool decode_scaled(const ScaledRows& in, TileSide side, uint8_t* tiles, const ScaledBounds& bounds);

/// Sixteen rows of sums, as tile_sums gives them, become D by adding C, rounded toward zero; sound where |C| is within the
/// limits of its row (bits of floats), or below them and a multiple of its quantum.
struct ScaledFinish {
  const float* sums;
  unsigned columns;
  const uint32_t* c;  // may be null
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
  uint32_t least[kTileRows], greatest[kTileRows];  // least > greatest: nothing is sound
  float quanta[kTileRows];                         // one over the quantum
  uint32_t wanted;                                 // a bit for each 32 columns to do
};
/// `left`: for each row, bits of columns that were not sound and not written; those not wanted are among them.
void finish_scaled(const ScaledFinish& x, uint32_t* left);

}  // namespace drywell::numeric
