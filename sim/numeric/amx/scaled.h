// Block-scaled e2m1 on the tile unit (unit.h): an element times its group's scale has at most six significant bits and is
// therefore a bf16. Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/unit.h"

namespace drywell::numeric {

/// All e2m1 values times one scale: bytes of bf16 by code.
struct ScaledE2m1 {
  uint8_t low[16], high[16];
};
struct alignas(64) ScaleTable {
  static constexpr int8_t kNone = -128;  // top of a zero scale; its lowest and unit are -1 - kNone
  static constexpr int8_t kUnfit = 127;  // top of a NaN scale, or of one with which products may exceed bf16's range
  ScaledE2m1 values[256];
  int8_t tops[256], lowest[256];  // raw exponents of the scale, for the maximum and for the minimum of several scales
  int8_t units[256];              // exponents of the lowest bit of the products
};

/// Rows of 64 elements in 32 bytes; one scale for 16 or 32 neighbours.
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

/// Returns false if a scale is unfit for tiles (kUnfit).
bool scales_fit(const ScaledRows& in);

/// Exponents of the scales of all rows; if all scales are zero, ScaleTable::kNone and -1 - kNone.
struct ScaledRange {
  int greatest_top, least_lowest;
};
/// Decodes the lanes' tiles: plane p of tile t is at tiles + (p * rows / 16 + t) * kTileBytes. `spans`, by tile: upper bound of
/// a row's squared length divided by the square of its elements' lowest bit; kScaledMaxRows / kTileRows of them may be read.
ScaledRange decode_scaled(const ScaledRows& in, uint8_t* tiles, float* spans);

/// Operands and result: D = C + rows * lanes, rounded toward zero. multiply_scaled decodes the rows.
struct ScaledProduct {
  ScaledRows rows;  // scales_fit is true; at most kScaledMaxRows
  const uint8_t* lanes;
  const float* lane_spans;
  ScaledRange lane_range;
  unsigned columns;   // a multiple of 64, at most kScaledMaxRows
  const uint32_t* c;  // may be null, may be d
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
  int window, group_depth;    // c_limits of grouped_limits.h
};
inline constexpr unsigned kScaledMaxRows = 256;

/// Computes the sound elements: no sum of products is rounded, and the window truncates no group and not C. Sets in `left`, for
/// each row, a bit for each 32 columns that are not sound and are not written.
void multiply_scaled(const ScaledProduct& x, uint32_t* left);

}  // namespace drywell::numeric
