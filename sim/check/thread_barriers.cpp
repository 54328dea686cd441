#include "sim/check/thread_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace drywell::sim::check {

namespace {

// A relaxed wait orders no memory, but what it waited for has run.
bool ran_before(const Access& a, const WarpClock& who) {
  return std::max({who.now.seen[a.issuer], who.observed.seen[a.issuer], who.now.executed[a.issuer]}) >= a.issued_at;
}

}  // namespace

void ThreadBarriers::arrive(const Warp& w, uint32_t id, const NamedBarrier& b) {
  WarpState& state = parts_.state_of(w);
  BarrierInstance& barrier = named_[w.cta->rank][id];
  if (!b.whole_cta) check_order(w, barrier, id);
  state.clock.join_lanes();
  state.named = barrier.arrive(state.clock.release());
  state.clock.tick();
  if (b.arrived != 0) return;
  if (b.whole_cta) join_ended(barrier, *w.cta, &WarpState::named);
  barrier.complete();
}

void ThreadBarriers::check_order(const Warp& w, BarrierInstance& barrier, uint32_t id) {
  const WarpClock& c = parts_.state_of(w).clock;
  const Access now = parts_.warps.access(w, w.pc, w.active, Agent::thread, false);
  for (const Access& a : barrier.before()) {
    if (!ran_before(a, c)) parts_.reporter.report(Rule::barrier_mixed, &a, now, [&] { return fmt::format("barrier {}", id); });
  }
  barrier.keep(now);
}

// A barrier that exited threads do not hold up (PTX ISA 9.7.13.1, 9.7.13.3) comes after all that they did.
void ThreadBarriers::join_ended(BarrierInstance& barrier, const Cta& cta, std::shared_ptr<const Message> WarpState::*joined) {
  for (const Warp& w : cta.warps) {
    const WarpState& state = parts_.state_of(w);
    if (!w.finished() || barrier.has(state.*joined)) continue;
    Message m = state.clock.release();
    m.executed = state.clock.now.seen;
    m.seen.raise(state.clock.self + 1, state.clock.time());
    barrier.arrive(m);
  }
}

void ThreadBarriers::named(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  if (state.named != nullptr) state.clock.acquire(*state.named);
  state.clock.meet();
  state.resized = false;
}

void ThreadBarriers::warp(const Warp& w, const DecodedOp&, LaneMask mask) {
  WarpClock& clock = parts_.state_of(w).clock;
  (w.alive & ~mask) == 0 ? clock.meet() : clock.meet(mask);
}

void ThreadBarriers::close_cluster() {
  const uint64_t now = parts_.cluster.cluster_generation;
  if (std::exchange(generation_, now) == now) return;
  for (const auto& cta : parts_.cluster.ctas) join_ended(cluster_, *cta, &WarpState::cluster);
  cluster_.complete();
}

void ThreadBarriers::arrive_at_cluster(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = parts_.state_of(w);
  state.clock.join_lanes();
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
