// Block-scaled e2m1 on the tile unit (unit.h): an element times its group's scale has at most six significant bits, so
// it is a bf16. Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/unit.h"

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

/// False: a scale is unfit for tiles.
bool scales_fit(const ScaledRows& in);

/// Exponents of the scales of all rows; without any scale, ScaleTable::kNone and -1 - kNone.
struct ScaledRange {
  int greatest_top, least_lowest;
};
/// The lanes' tiles: plane p of tile t at tiles + (p * rows / 16 + t) * kTileBytes. `spans`, by tile: no row's squared length,
/// over that of the lowest bit of its elements, is larger; kScaledMaxRows / kTileRows of them may be read.
ScaledRange decode_scaled(const ScaledRows& in, uint8_t* tiles, float* spans);

/// Operands and where their product goes: D = C + rows * lanes, rounded toward zero. Rows are decoded on the way.
struct ScaledProduct {
  ScaledRows rows;  // fit; at most kScaledMaxRows
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

/// Computes what is sound: no sum of products is rounded, no group is cut off, and C is not cut off either. `left`: for each
/// row, a bit for each 32 columns that were not sound and not written.
void multiply_scaled(const ScaledProduct& x, uint32_t* left);

}  // namespace drywell::numeric
