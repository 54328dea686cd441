// The cells of tensor memory that a tcgen05.ld or tcgen05.st accesses (docs/facts/tcgen05.md §2).
#pragma once

#include "drywell/isa/tmem_layout.h"
#include "sim/engine/engine.h"

namespace drywell::sim {

struct TmemTarget {
  isa::TmemAccess access;
  uint32_t lane = 0, column = 0;
  /// 32x32b without packing: each register is 32 neighbouring lanes of a column.
  bool is_plain() const { return access.shape == isa::TmemShape::s32x32b && !access.pack; }
};

/// F3209 for lanes of another warp's quarter, F3210 for columns that the CTA has not allocated.
EngineResult locate(const Cluster& c, const AsyncOp& op, const TmemLdSt& t, TmemTarget& out);

}  // namespace drywell::sim
