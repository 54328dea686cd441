// 2:4 sparse A of mma.sp and wgmma.mma_async.sp: the lane that holds a group's metadata, and the dense k of a stored element.
// Measured on an H100, one nibble at a time, for every form (the PTX ISA, 9.7.14.6.1, has only pictures).
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Grouping of elements of one width: of `dense` neighbours along k, `stored` are kept.
struct SparseGroup {
  uint32_t dense, stored;
};
constexpr SparseGroup sparse_group(uint32_t bits) {
  return bits == 32 ? SparseGroup{2, 1} : bits == 4 ? SparseGroup{8, 4}
                                                    : SparseGroup{4, 2};
}

/// Location of the four metadata bits of one group in a row; a row has `groups` groups.
struct MetadataPlace {
  uint32_t lane, shift;
};
constexpr MetadataPlace metadata_place(uint32_t bits, uint32_t groups, uint32_t selector, uint32_t row, uint32_t group) {
  const uint32_t quad = row % 8 * 4, upper = row / 8;
  if (bits >= 16) return {quad + (groups == 4 ? selector : 2 * selector + group / 4), 16 * upper + group % 4 * 4};
  return {quad + upper + 2 * (groups == 8 ? selector : group / 8), group % 8 * 4};
}

/// Dense position inside its group of stored element `i`. 4-bit elements are kept in pairs; for tf32 the two indices of a
/// nibble name the halves of one element.
constexpr uint32_t dense_position(uint32_t bits, uint32_t nibble, uint32_t i) {
  if (bits == 32) return nibble >> 1 & 1;
  if (bits == 4) return 2 * (nibble >> (i / 2 * 2) & 3) + i % 2;
  return nibble >> (2 * i) & 3;
}

}  // namespace drywell::sim
