// Products of e4m3, e5m2, e2m3, e3m2 and e2m1, 32 elements a row, on the tile unit (unit.h).
//
// A sum of products is exact there if no partial sum reaches 2^24 of the products' lowest bit, and none is larger than the
// rows' lengths multiplied (Cauchy-Schwarz). Small elements have the lowest bits and the large ones the length: operands that
// reach far are split into elements above and below a bound, H = high * high and L = the rest, and both sums are exact.
//
// An element of D is what it seems, H + L + C rounded once, if the alignment window cuts nothing off. A third sum tells, that
// of 32^-(lowest bit of a + lowest bit of b): the lowest bit of all 32 products lies at or above q only if it is at most
// 32^(1 - q). What does not pass is computed again, every product cut (bytes_cut.cpp).
//
// Formats of six and four bits need neither a second nor a third sum: every exponent they have fits float and window.
//
// Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/unit.h"

namespace drywell::numeric {

/// The values of a format by the low seven bits of the code, in units of 2^unit; bytes of bf16.
struct ByteTable {
  uint8_t low[128], high[128];
  uint8_t bottoms[128];  // exponent fields of 32^-(lowest bit); 0 where the value is zero
  uint8_t mask, sign;    // of codes; sign: bit 7 if the table does not have it
  int unit;
};
inline constexpr int kBottomStep = 5;  // 32 = 2^5

/// Planes of an operand's tiles. kValues is not turned over. Without the split kHigh holds all, and the others nothing.
enum BytePlane : unsigned { kValues, kHigh, kLow, kBottoms, kBytePlanes };
inline constexpr unsigned kByteMaxRows = 256;

struct ByteRows {
  const uint8_t* codes;
  size_t stride;
  unsigned rows;  // a multiple of kTileRows
  uint8_t flip;   // of every code
  const ByteTable* table;
  bool split;
  uint8_t magnitude, bound;  // low elements: code & magnitude < bound
};
struct ByteOperand {
  alignas(64) uint8_t tiles[kBytePlanes][kByteMaxRows / kTileRows][kTileBytes];
  alignas(64) int32_t exponents[kByteMaxRows];  // of their scales
  float square;    // no row's length squared is larger
  int low_count;   // most low elements of a row
  int floor;       // least raw exponent of an element, in units
  int unit;
};
/// Fills tiles, and with a split square and low_count.
void decode_bytes(const ByteRows& in, TileSide side, ByteOperand& out);

/// The largest code, sign apart, of a format of eight bits.
uint8_t largest_code(const uint8_t* codes, size_t stride, unsigned rows);

struct ByteProduct {
  const ByteOperand& rows;
  const ByteOperand& lanes;
  unsigned row_count, columns;  // multiples of 16 and of 64
  bool split, scaled;           // scaled: any exponent of a scale is not 0
  int window;                   // at most 25
  int top;                      // no product has a larger raw exponent; in units, as what follows
  int bottom;                   // split: products of low elements above this add up exactly; otherwise their lowest bit
  const uint32_t* c;            // may be null, may be d
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
};
/// `left`: for each row, a bit for each 32 columns that are not written.
void multiply_bytes(const ByteProduct& x, uint32_t* left);

/// Elements of D for which products may be cut off: some of sixteen columns of a row.
void cut_products(const ByteProduct& x, unsigned row, unsigned column, uint16_t lanes);

}  // namespace drywell::numeric
