// Plan of a tensor copy from its tensor map and coordinates: the rows of its box in global and shared memory
// (docs/facts/tma-mbarrier.md §2).
#pragma once

#include <algorithm>

#include "drywell/isa/tensor_tile.h"
#include "sim/engine/engine.h"

namespace drywell::sim {

/// The tensor map and the box of one copy. The bytes of the map are those captured at issue.
struct TensorPlan {
  isa::TensorMapFields map;
  isa::TensorRows box;
  const isa::TileGeometry& geometry() const { return box.geometry; }
};

/// Decodes and checks the map, the request and the alignment in shared memory.
EngineResult plan_copy(const TensorCopy& t, TensorPlan& plan);

/// Splits a row at swizzle atoms: calls f(row byte, shared offset, length) for each run.
template <class F>
void for_runs(const TensorPlan& p, uint32_t smem, const isa::TileRow& row, F f) {
  const uint32_t bytes = p.geometry().row_bytes;
  const uint32_t atom = p.map.swizzle == isa::Swizzle::none ? bytes : isa::swizzle_atom(p.map.swizzle);
  for (uint32_t b = 0; b < bytes; b += atom) {
    f(b, isa::swizzle_address(p.map.swizzle, smem + row.smem_offset + b), std::min(atom, bytes - b));
  }
}

}  // namespace drywell::sim
