#pragma once

#include <cstdint>

#include "sim/state/cta.h"

namespace drywell::sim {

/// A warp of a launch.
struct WarpRef {
  uint64_t cluster = 0;
  uint32_t cta = 0;  // rank in the cluster
  uint32_t warp = 0;
  bool operator==(const WarpRef&) const = default;
};

inline WarpRef ref_of(const Warp& w) { return {w.cta->cluster->index, w.cta->rank, w.index}; }

}  // namespace drywell::sim
