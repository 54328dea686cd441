// The fast path of the grouped kinds. Most sums of a real problem are exact: the alignment window truncates no group, and the sum of the groups
// fits a float. Steps 3 and 4 of docs/facts/numerics.md §3.1 then do not change the groups, and D is their sum plus C, rounded toward zero once.
//
// This is checked, not assumed. The kernels below run with rounding toward zero, and the processor's "inexact" flag reports whether an operation on
// the sums rounded (exact_rounding.h); C is compared with limits. Elements that fail are left to tile_kernels.h. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// A block of rows and columns stays in the L1 cache, with its operands. One rounded sum invalidates a block.
inline constexpr unsigned kGroupedBlockRows = 16, kGroupedBlockColumns = 128;

/// group == 16. A group's dot product is an integer: bytes are multiplied and added in fours. The sum starts at kMagicBits, so
/// that its bits are the float kMagic + dot; one fused multiply-add with magic_scales = -kMagic * scale computes dot * scale.
struct GroupedBlock {
  const uint32_t* a;
  const uint32_t* b;
  const int32_t* a_bias;  // with kMagicBits
  const float* a_scales;
  const float* b_scales;
  const float* b_magic_scales;
  size_t a_stride, b_stride;
  unsigned groups, rows, columns;
  float* sums;
  size_t sum_stride;
};
void exact_grouped_sums(const GroupedBlock& block);

/// Writes D of a row from its sums. `c` may be null (+0) and may be `d`.
struct GroupedFinish {
  const float* sums;
  unsigned columns;
  // CLimits: bits of the least and greatest |C| with which the window truncates neither C nor a group; C = 0 is allowed, too.
  uint32_t least, greatest;
  const uint32_t* c;
  uint32_t* d;
};
/// Returns a bit for each kColumnMultiple columns that are not written.
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
