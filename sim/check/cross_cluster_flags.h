// Clusters that order each other through global memory: one releases into a place, another acquires from it (PTX ISA 8.8).
#pragma once

#include <unordered_map>
#include <vector>

#include "sim/check/launch_state.h"

namespace drywell::sim::check {

/// A warp of cluster `serial` loads from the place, stores to it, or both.
void exchange_cross_cluster(CrossClusterFlag& place, uint64_t serial, WarpClock& clock, Ordering o, bool loads, bool stores);

/// The warps' clocks of other clusters, numbered.
class CrossClusterTable {
 public:
  /// `last`: the previous number of this warp's clock; it is returned if the clock is unchanged.
  uint32_t number(const CrossClusterKnowledge& now, uint32_t last) {
    if (now.same(all_[last])) return last;
    all_.push_back(now);
    return static_cast<uint32_t>(all_.size() - 1);
  }
  const CrossClusterKnowledge& operator[](uint32_t number) const { return all_[number]; }

 private:
  std::vector<CrossClusterKnowledge> all_{1};  // [0]: nothing
};

}  // namespace drywell::sim::check
