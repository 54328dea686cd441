// Products of e4m3, e5m2, e2m3, e3m2 and e2m1, 32 elements a row, on the tile unit (tile_unit.h). Three sums are formed for
// every element of D:
//
// * that of the products;
// * the sum of 64^(exponent of a + exponent of b): at most 32 times its largest term, so that its own exponent tells the
//   largest exponent of a product, the top of the alignment window;
// * the sum of 64^-(lowest bit of a + lowest bit of b), which tells the lowest bit of all products likewise.
//
// So it is known, for each element and exactly, whether the window cuts anything off, and the first sum is exact where the
// rows' lengths multiplied are below 2^24 of that lowest bit: no partial sum of products is larger (Cauchy-Schwarz). An
// element of which one of both does not hold is computed again, every product cut (finish_bytes). Private to sim/numeric.
#pragma once

#include "sim/numeric/tile_unit.h"

namespace drywell::numeric {

/// The values of a format by the low seven bits of the code, in units of 2^unit; bytes of bf16.
struct ByteTable {
  uint8_t low[128], high[128];
  uint8_t tops[128], bottoms[128];  // exponent fields of 64^exponent and of 64^-(lowest bit); 0 where the value is zero
  uint8_t bad[128];                 // lies so far below the unit that they do not tell
  uint8_t mask, sign;               // of codes; sign: bit 7 if the table does not have it
  int unit;
};
/// Exponents of bad elements, relative to the unit, are this or less, and count as this.
inline constexpr int kBadExponent = -10;
/// From here a largest exponent cannot come of one of them.
inline constexpr int kCertainExponent = 2;
inline constexpr int kExponentStep = 6;

/// Planes of an operand's tiles.
enum BytePlane : unsigned { kValues, kTops, kBottoms, kBytePlanes };

struct ByteRows {
  const uint8_t* codes;
  size_t stride;
  unsigned rows;  // a multiple of kTileRows
  uint8_t flip;   // of every code
  const ByteTable* table;
};
struct ByteOperand {
  uint8_t* tiles;  // plane p of tile t at tiles + (p * rows / 16 + t) * kTileBytes
  float* values;   // 32 of each row: even elements, odd elements
  float* turned;   // lanes: the same, element i of a tile's 16 rows together
  float* lengths;  // of rows, not too small
  uint16_t* bad;   // by tile: a bit for each row with bad elements
};
void decode_bytes(const ByteRows& in, TileSide side, const ByteOperand& out);

/// The largest code, sign apart, of a format of eight bits.
uint8_t largest_code(const uint8_t* codes, size_t stride, unsigned rows);

/// Sixteen rows of D from their sums.
struct ByteFinish {
  const float *sums, *tops, *bottoms;  // as tile_sums gives them
  const float *rows, *lanes, *turned_lanes;  // values
  const float *row_lengths, *column_lengths;
  const int32_t *row_exponents, *column_exponents;  // of their scales
  int unit;                                         // exponent of both units
  uint16_t bad_rows;
  const uint16_t* bad_lanes;  // by tile
  unsigned columns;           // a multiple of 32
  int window;
  const uint32_t* c;  // may be null
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
};
/// `left`: for each row, bits of groups of 32 columns that are not written.
void finish_bytes(const ByteFinish& x, uint32_t* left);

}  // namespace drywell::numeric
