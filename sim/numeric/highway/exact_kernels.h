// The fast path of a tile. Most sums of a real problem lose nothing on their way: no product is cut off by the alignment
// window, and the exact sum of the products fits a float. Then step 3 and 4 of docs/facts/numerics.md §3.1 leave the products
// alone and D is C plus their sum, cut to a multiple of the quantum and rounded toward zero once.
//
// *That nothing was lost is not guessed.* The kernels below run with the processor rounding toward zero and report, by
// the processor's own "inexact" flag, whether any operation on the sums rounded (exact_rounding.h); whether C and the
// window fit is compared for every element. What does not qualify is left to tile_kernels.h. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Rows of a block. One rounded sum spoils a block, and sums of narrow floats are rounded more often than those of e2m1.
inline constexpr unsigned kGroupedBlockRows = 8, kAlignedBlockRows = 1;

/// A block of rows of `a` against `columns` rows of `b`; pointers are to the first of each. Element (k, r) is at
/// k * stride + r.
struct AlignedBlock {
  const float* a;
  const float* b;
  size_t a_stride, b_stride;
  unsigned k, rows, columns;  // columns: a multiple of kColumnMultiple
  float* sums;                // [row][sum_stride]
  size_t sum_stride;
};
/// Sums of products, exact unless the inexact flag says otherwise.
void exact_aligned_sums(const AlignedBlock& block);

/// group == 16. A group's dot product is an integer: bytes multiplied and added in fours. Started from kMagicBits it
/// comes out as the float kMagic + dot, and magic_scales = -kMagic * scale turns that into dot * scale by one fused
/// multiply-add.
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

/// One row of `a` against columns of `b`. `c` may be null (+0) and may be `d`.
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
/// A row of sums (overwritten) becomes D where that is sound. Returns a bit for each kColumnMultiple columns it left alone.
uint32_t finish_aligned(const AlignedColumns& row, float* sums);
/// D of a row with every product cut to the window: for any input but infinities, NaN and exponents near the ends of
/// float's range, whose columns it leaves alone.
uint32_t truncated_aligned(const AlignedColumns& row);

struct GroupedFinish {
  const float* sums;
  unsigned columns;
  // Bits of the least and greatest |C| that neither is cut off by the window nor cuts off a group; C = 0 is fine too.
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
  int32_t* dots;  // in: what is added
};
void byte_dots(const ByteRow& row);

}  // namespace drywell::numeric
