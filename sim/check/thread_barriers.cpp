#include "sim/check/thread_barriers.h"

#include <utility>

namespace drywell::sim::check {

void ThreadBarriers::arrive(const Warp& w, uint32_t id, const NamedBarrier& b) {
  WarpState& state = parts_.state_of(w);
  BarrierInstance& barrier = named_[w.cta->rank][id];
  state.named = barrier.arrive(state.clock.release());
  state.clock.tick();
  if (b.arrived == 0) barrier.complete();
}

void ThreadBarriers::named(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  if (state.named != nullptr) state.clock.acquire(*state.named);
  state.clock.meet();
  state.resized = false;
}

void ThreadBarriers::warp(const Warp& w, const DecodedOp&, LaneMask mask) {
  if ((w.alive & ~mask) == 0) parts_.state_of(w).clock.meet();
}

void ThreadBarriers::close_cluster() {
  const uint64_t now = parts_.cluster.cluster_generation;
  if (std::exchange(generation_, now) != now) cluster_.complete();
}

void ThreadBarriers::arrive_at_cluster(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = parts_.state_of(w);
  Message m = parts_.launch.ordering(op).release ? state.clock.release() : state.clock.fenced;
  m.tensor = state.clock.tensor_released;
  m.executed = state.clock.now.seen;
  state.cluster = cluster_.arrive(m);
  state.clock.tick();
  close_cluster();
}

void ThreadBarriers::leave_cluster(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  close_cluster();  // exited threads can also complete the barrier
  parts_.warps.all_run(state.clock.now.seen);
  if (state.cluster != nullptr) {
    state.clock.acquire(*state.cluster);
    state.clock.now.executed.join(state.cluster->executed);
  }
  state.clock.meet();
}

}  // namespace drywell::sim::check
