// The fast path of a tile. Most sums of a real problem are exact: the alignment window truncates no product, and the exact sum
// of the products fits a float. Steps 3 and 4 of docs/facts/numerics.md §3.1 then do not change the products, and D is their
// sum plus C truncated to a multiple of the quantum, rounded toward zero once.
//
// This is checked, not assumed. The kernels below run with rounding toward zero, and the processor's "inexact" flag reports
// whether an operation on the sums rounded (exact_rounding.h). C and the window are compared for every element. Elements that
// fail these checks are left to tile_kernels.h. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Rows of a block. One rounded sum invalidates a block, and sums of narrow floats are rounded more often than those of e2m1.
inline constexpr unsigned kGroupedBlockRows = 8, kAlignedBlockRows = 1;

/// A block of rows of `a` times `columns` rows of `b`; pointers are to the first row of each. Element (k, r) is at
/// k * stride + r.
struct AlignedBlock {
  const float* a;
  const float* b;
  size_t a_stride, b_stride;
  unsigned k, rows, columns;  // columns: a multiple of kColumnMultiple
  float* sums;                // [row][sum_stride]
  size_t sum_stride;
};
/// Sums of products. They are exact if the inexact flag is not set.
void exact_aligned_sums(const AlignedBlock& block);

/// group == 16. A group's dot product is an integer: bytes are multiplied and added in fours. The sum starts at kMagicBits, so
/// that its bits are the float kMagic + dot; one fused multiply-add with magic_scales = -kMagic * scale computes dot * scale.
struct GroupedBlock {
  const uint32_t* a;
  const uint32_t* b;
  const int32_t* a_bias;
  const float* a_scales;
  const float* b_scales;
  const float* b_magic_scales;
  size_t a_stride, b_stride;
  unsigned groups, rows, columns;
  float* sums;
  size_t sum_stride;
};
void exact_grouped_sums(const GroupedBlock& block);

/// One row of `a` times columns of `b`. `c` may be null (+0) and may be `d`.
struct AlignedColumns {
  const float* a;
  const int8_t* a_exponents;
  int a_row_exponent, a_lowest;
  const float* b;
  const int8_t* b_exponents;
  const int32_t* b_row_exponents;
  const int32_t* b_lowest;
  size_t a_stride, b_stride;
  unsigned k, columns;  // k <= 32; columns: a multiple of kColumnMultiple
  int window, floor;
  const uint32_t* c;
  uint32_t* d;
};
/// Writes D of a row from its sums (which are overwritten) where that is sound. Returns a bit for each kColumnMultiple columns
/// that are not written.
uint32_t finish_aligned(const AlignedColumns& row, float* sums);
/// Writes D of a row with every product truncated to the window. Columns with infinities, NaN or exponents near the ends of
/// float's range are not written; returns their bits.
uint32_t truncated_aligned(const AlignedColumns& row);

struct GroupedFinish {
  const float* sums;
  unsigned columns;
  // CLimits: bits of the least and greatest |C| with which the window truncates neither C nor a group; C = 0 is allowed, too.
  uint32_t least, greatest;
  const uint32_t* c;
  uint32_t* d;
};
uint32_t finish_grouped(const GroupedFinish& row);

/// Exact integer dot products, K-major bytes in words: d[n] += sum over k of a * b, a signed, b unsigned.
struct ByteRow {
  const uint32_t* a;  // one row's words, a_stride apart
  const uint32_t* b;
  size_t a_stride, b_stride;
  unsigned words, columns;
  int32_t* dots;  // in: initial values
};
void byte_dots(const ByteRow& row);

}  // namespace drywell::numeric
