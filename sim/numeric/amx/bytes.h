// Products of e4m3, e5m2, e2m3, e3m2 and e2m1, 32 elements per row, on the tile unit (unit.h).
//
// The unit's sum of products is exact if every partial sum is below 2^24 times the products' lowest bit. The product of the
// rows' lengths bounds all partial sums (Cauchy-Schwarz). Small elements have the lowest bits and large elements determine the
// length: operands with a wide range of exponents are split into elements above and below a bound. H = high * high and
// L = the other products are then both exact sums.
//
// An element of D is H + L + C rounded once if the alignment window truncates no product. A third sum decides this, the sum of
// 32^-(lowest bit of a + lowest bit of b): only if it is at most 32^(1 - q) are the lowest bits of all 32 products at or above
// q. Other elements are computed again with every product truncated (bytes_cut.cpp).
//
// Formats of six and four bits need only the first sum: their exponents fit the float and the window.
//
// Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/unit.h"

namespace drywell::numeric {

/// The values of a format by the low seven bits of the code, in units of 2^unit; bytes of bf16.
struct ByteTable {
  uint8_t low[128], high[128];
  uint8_t bottoms[128];  // exponent fields of 32^-(lowest bit); 0 if the value is zero
  uint8_t mask, sign;    // masks for codes; sign: bit 7 if the table has no signs
  int unit;
};
inline constexpr int kBottomStep = 5;  // 32 = 2^5

/// Planes of an operand's tiles. kValues is not transposed. Without the split, kHigh has all elements and the other planes are
/// unused.
enum BytePlane : unsigned {
  kValues,
  kHigh,
  kLow,
  kBottoms,
  kBytePlanes
};
inline constexpr unsigned kByteMaxRows = 256;

struct ByteRows {
  const uint8_t* codes;
  size_t stride;
  unsigned rows;  // a multiple of kTileRows
  uint8_t flip;   // XORed to every code
  const ByteTable* table;
  bool split;
  uint8_t magnitude, bound;  // low elements: code & magnitude < bound
};
struct ByteOperand {
  alignas(64) uint8_t tiles[kBytePlanes][kByteMaxRows / kTileRows][kTileBytes];
  alignas(64) int32_t exponents[kByteMaxRows];  // of the rows' scales
  float square;                                 // upper bound of a row's squared length
  int low_count;                                // most low elements of a row
  int floor;                                    // least raw exponent of an element, in units
  int unit;
};
/// Fills `tiles` and, with a split, `square` and `low_count`.
void decode_bytes(const ByteRows& in, TileSide side, ByteOperand& out);

/// The largest code without its sign, for a format of eight bits.
uint8_t largest_code(const uint8_t* codes, size_t stride, unsigned rows);

struct ByteProduct {
  const ByteOperand& rows;
  const ByteOperand& lanes;
  unsigned row_count, columns;  // multiples of 16 and of 64
  bool split, scaled;           // scaled: an exponent of a scale is not 0
  int window;                   // at most 25
  int top;                      // upper bound of the products' raw exponents; in units, as `bottom`
  int bottom;                   // split: sums with low elements are exact from this lowest bit on; otherwise the lowest bit
  const uint32_t* c;            // may be null, may be d
  uint32_t* d;
  size_t c_stride, d_stride;  // in words
};
/// Sets in `left`, for each row, a bit for each 32 columns that are not written.
void multiply_bytes(const ByteProduct& x, uint32_t* left);

/// Computes elements of D whose products may be truncated: those of `lanes` in sixteen columns of a row.
void cut_products(const ByteProduct& x, unsigned row, unsigned column, uint16_t lanes);

}  // namespace drywell::numeric
