// Clusters that order each other through global memory: one releases into a place, another acquires from it (PTX ISA 8.8).
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "sim/check/launch_state.h"

namespace drywell::sim::check {

/// What one cluster tells others of itself. Few different clocks go to many places: equal ones are the same object, so that clocks of other
/// clusters that have them share them.
class OwnClocks {
 public:
  explicit OwnClocks(uint64_t serial) : serial_(serial) {}
  uint64_t serial() const { return serial_; }
  const CrossClusterClock& of(const Clock& c) {
    for (const Known& k : known_)
      if (k.values == c.values()) return k.clock;
    Known& next = known_[next_++ % known_.size()];
    next = {c.values(), CrossClusterClock(serial_, c.values())};
    return next.clock;
  }

 private:
  struct Known {
    std::vector<uint32_t> values{};
    CrossClusterClock clock{};
  };
  uint64_t serial_;
  std::array<Known, 4> known_{};
  size_t next_ = 0;
};

/// A warp of the cluster of `own` loads from the place, stores to it, or both.
void exchange_cross_cluster(CrossClusterFlag& place, OwnClocks& own, WarpClock& clock, Ordering o, bool loads, bool stores);

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
