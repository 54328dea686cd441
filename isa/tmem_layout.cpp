#include "drywell/isa/tmem_layout.h"

namespace drywell::isa {
namespace {

bool is_split_by_row(MmaKind kind) { return kind == MmaKind::f16 || kind == MmaKind::tf32; }

}  // namespace

// docs/facts/tcgen05.md §6.3: f16 and tf32 keep two 8-row groups and two K halves in the 16 lanes of a 16-row
// group, one column; the other kinds keep each row in its own lane, one column per half of K.
TmemBits metadata_bits(MmaKind kind, unsigned k, unsigned m, unsigned selector) {
  unsigned column = 0, nibble = 0;
  if (is_split_by_row(kind)) {
    const unsigned half_k = kind == MmaKind::f16 ? 16 : 8, group = kind == MmaKind::f16 ? 4 : 2;
    column = selector;
    nibble = 4 * (m / 8 % 2) + k % half_k / group;
  } else {
    const unsigned half_k = is_packed_fp4(kind) ? 64 : 32, group = is_packed_fp4(kind) ? 8 : 4;
    column = k / half_k;
    nibble = k % half_k / group;
  }
  return {static_cast<uint16_t>(column), static_cast<uint8_t>(4 * nibble), 4};
}

unsigned metadata_lane(MmaKind kind, DLayout layout, unsigned m, unsigned k, unsigned copy) {
  const unsigned row = m % d_rows_per_cta(layout);
  const unsigned copies = d_column_groups(layout);
  DRYWELL_CHECK(copy < copies, "metadata_lane: no such copy");
  const bool half = layout == DLayout::C || layout == DLayout::F;
  if (!is_split_by_row(kind)) {
    return (half ? half_lanes(row) : row) + copy * (kTmemLanes / copies);
  }
  const unsigned k_half = k / (kind == MmaKind::f16 ? 16 : 8);
  const unsigned group = row / 16 * (half ? 32 : 16);
  return group + row % 8 + 8 * k_half + copy * (kTmemLanes / copies);
}

unsigned metadata_columns(MmaKind kind) { return is_split_by_row(kind) ? 1 : 2; }

}  // namespace drywell::isa
