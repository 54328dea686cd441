// The blocked warps of one cluster, and the cycle at which each continues once its condition is met.
#pragma once

#include <vector>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/stall.h"
#include "sim/state/cta.h"
#include "sim/timing/server.h"

namespace drywell::sim {

/// The cycles at which one event's waiters continue, by the kind of condition that they wait for.
struct WakeTimes {
  Time mbarrier, barrier, other;
};
/// An instruction at cycle `t` is the event: a phase that it completes is visible a little later.
WakeTimes thread_wake(const ArchConfig& arch, Time t);
/// An engine is the event's source: its latency figures end where the phase changes.
WakeTimes async_wake(const ArchConfig& arch, Time t);

/// The stall reason of a warp that waits for `r`.
Stall stall_of(BlockReason r);

class WakeList {
 public:
  struct Wake {
    uint32_t warp;
    Time at;
  };

  /// A cluster begins: the list is empty, nothing has changed.
  void reset(const Cluster& cluster);

  void add(uint32_t id, const Warp& warp) { blocked_.push_back({id, &warp}); }
  /// Returns false if the warp is not on the list: its wake has its cycle already.
  bool holds(uint32_t id) const;
  void remove(uint32_t id);

  /// Removes and returns the warps whose condition is met, if anything of the cluster changed since the last call.
  const std::vector<Wake>& changed(const WakeTimes& at);
  /// Columns of tensor memory are free: removes and returns all waiting allocators. One that finds too few columns blocks again.
  const std::vector<Wake>& allocators(Time at);

  /// The cluster's barrier has completed `instances` instances; waiters of one completed since the last call continue at `release`. Returns
  /// the cycle at which the waiters of the last instance continue.
  Time cluster_barrier(uint64_t instances, Time release);

 private:
  struct Blocked {
    uint32_t id;
    const Warp* warp;
  };
  template <class When>
  const std::vector<Wake>& take(When&& when);
  bool anything_new();
  Time time_of(const Warp& w, const WakeTimes& at) const;

  const Cluster* cluster_ = nullptr;
  std::vector<Blocked> blocked_;
  std::vector<uint64_t> seen_;  // wake epoch of each CTA
  uint64_t instances_ = 0;      // of the cluster's barrier
  Time release_ = 0;            // of its last one
  std::vector<Wake> woken_;
};

}  // namespace drywell::sim
