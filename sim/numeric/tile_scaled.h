// Block-scaled e2m1 on the tile unit (tile_unit.h): an element times its group's scale has at most six significant bits, so
// it is a bf16. Private to sim/numeric.
#pragma once

#include "sim/numeric/tile_unit.h"

namespace drywell::numeric {

/// All e2m1 values times one scale: bytes of bf16 by code.
struct ScaledE2m1 {
  uint8_t low[16], high[16];
};
struct alignas(64) ScaleTable {
  static constexpr int8_t kNone = -128;  // top of a scale that is zero; its lowest and unit are -1 - kNone
  static constexpr int8_t kUnfit = 127;  // top of one that is NaN, or so large or small that products might leave bf16's range
  ScaledE2m1 values[256];
  int8_t tops[256], lowest[256];  // raw exponents of the scale, for the largest and for the smallest of several
  int8_t units[256];              // exponents of the lowest bit of the products
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

/// What is known about rows; a row without a scale has tops and lowest of ScaleTable::kNone and -1 - kNone.
struct ScaledBounds {
  int32_t* tops;    // largest raw exponent of a scale
  int32_t* lowest;  // smallest
  float* spans;     // by tile: no row's squared length, over that of the lowest bit of its elements, is larger
};
struct ScaledRange {
  int greatest_top, least_lowest;
};
/// The rows' tiles: plane p of tile t at tiles + (p * rows / 16 + t) * kTileBytes. A greatest_top of kUnfit: a scale is unfit.
ScaledRange decode_scaled(const ScaledRows& in, TileSide side, uint8_t* tiles, const ScaledBounds& bounds);

/// Decoded operands and where their product goes: D = C + rows * lanes, rounded toward zero.
struct ScaledProduct {
  const uint8_t *rows, *lanes;
  ScaledBounds row_bounds, lane_bounds;
  ScaledRange lane_range;
  unsigned row_count, columns;  // multiples of 16 and of 64, at most kScaledMaxRows
  const uint32_t* c;            // may be null, may be d
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
  int window, group_depth;    // c_limits of grouped_limits.h
};
inline constexpr unsigned kScaledMaxRows = 256;

/// Computes what is sound: no sum of products is rounded, no group is cut off, and C is not cut off either. `left`: for each
/// row, a bit for each 32 columns that were not sound and not written.
void multiply_scaled(const ScaledProduct& x, uint32_t* left);

}  // namespace drywell::numeric
