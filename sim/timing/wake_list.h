// The warps of one cluster that wait for something, and when each goes on once it has happened.
#pragma once

#include <vector>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/stall.h"
#include "sim/state/cta.h"
#include "sim/timing/server.h"

namespace drywell::sim {

/// When the waits end that one event ends, by what is waited for.
struct WakeTimes {
  Time mbarrier, barrier, other;
};
/// The event is an instruction's at cycle `t`: a phase it completes shows a little later.
WakeTimes thread_wake(const ArchConfig& arch, Time t);
/// The event is an engine's: its latency figures end where the phase changes.
WakeTimes async_wake(const ArchConfig& arch, Time t);

/// What a warp's cycles are charged to while it waits for that.
Stall stall_of(BlockReason r);

class WakeList {
 public:
  struct Wake {
    uint32_t warp;
    Time at;
  };

  /// A cluster begins: nobody waits, nothing has changed.
  void reset(const Cluster& cluster);

  void add(uint32_t id, const Warp& warp) { blocked_.push_back({id, &warp}); }
  /// False: it is on its way already.
  bool holds(uint32_t id) const;
  void remove(uint32_t id);

  /// Those whose condition holds now, if anything of the cluster changed since the last call. They are off the list.
  const std::vector<Wake>& changed(const WakeTimes& at);
  /// Columns of tensor memory came free: those that wait for some. Who still finds none waits on.
  const std::vector<Wake>& allocators(Time at);

  /// The cluster's barrier has completed that many instances, which was found at a cycle that lets its waiters go on at `release`. Returns
  /// when those of the last instance go on.
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
