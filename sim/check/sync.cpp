// Synchronisation: the order that a warp acquires. Fences, mbarriers, named and cluster barriers, flags in memory, waits.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "drywell/isa/spec.h"
#include "sim/check/monitor.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/mbarrier.h"

namespace drywell::sim::check {

using isa::Mod;
using isa::SyncRole;

namespace {

void join_fence(WarpClock& c, bool release, bool acquire) {
  if (acquire) {
    c.acquire(c.observed);
    c.observed = {};
  }
  if (!release) return;
  c.fenced = c.release();
  c.tick();
}

}  // namespace

void ClusterMonitor::init(const BarrierEvent& e, const Warp& w, const DecodedOp& op, LaneMask mask) {
  Access who = access_of(w, op, mask, Agent::mbarrier, true);
  Component& inits = state_of(w).clock.inits;
  if (inits == 0) inits = parts_.components.next();
  who.done = inits;
  const AccessId id = parts_.mbarriers.init(e.address, who);
  if (id != 0) parts_.memory.touch({Memory::shared, shared_rank(e.address), shared_offset(e.address), 8}, id, state_of(w).clock);
}

// The object's word keeps its bytes, as after a store.
void ClusterMonitor::inval(const BarrierEvent& e, const Warp& w, const DecodedOp& op, LaneMask mask) {
  parts_.mbarriers.inval(e.address);
  parts_.memory.overwrite(shared_rank(e.address), shared_offset(e.address), 8, parts_.accesses.add(access_of(w, op, mask, Agent::thread, true)));
}

void ClusterMonitor::arrive(const BarrierEvent& e, const WarpClock& clock, Ordering o, const Access& who) {
  if (e.what == MbarrierEvent::phase_complete) return parts_.mbarriers.complete_phase(e.address);
  parts_.mbarriers.check_init(e.address, who, clock.now.seen);
  parts_.mbarriers.note(e.address, {e.what, e.amount, who.pc, who.cta, who.warp, false}, clock.arrival(o.release, o.wide), clock.now.wide, who);
}

// Called in the middle of an instruction, or while an operation writes and signals. The lanes of an instruction arrive one by one.
void ClusterMonitor::mbarrier(const Cta& cta, uint32_t offset, MbarrierEvent what, int64_t amount) {
  const uint32_t address = cluster_address(cta.rank, offset);
  if (what == MbarrierEvent::wait_true || async_.signal(address, what, amount)) return;
  const bool more = what == MbarrierEvent::arrive && !events_.empty() && events_.back().what == what && events_.back().address == address;
  if (more) events_.back().amount += amount;
  else events_.push_back({address, what, amount});
}

// 32-bit addresses of shared memory have the CTA's rank in bits 24 and up, those of the own CTA too (docs/facts/tma-mbarrier.md §5).
void ClusterMonitor::check_own_address(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (parts_.cluster.ctas.size() == 1 || op.as<payload::Mbarrier>().cluster_space) return;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t rank = shared_rank(static_cast<uint32_t>(a));
    if (is_shared_generic(a) || rank == w.cta->rank || rank >= parts_.cluster.ctas.size()) return;
    parts_.reporter.report(Rule::peer_address, nullptr, access_of(w, op, mask, Agent::arrival, false),
                           [&] { return fmt::format("address {:#x}: offset {:#x} of CTA rank {}, used by CTA rank {}", a, shared_offset(static_cast<uint32_t>(a)), rank, w.cta->rank); });
  });
}

void ClusterMonitor::barrier_events(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.sync == SyncRole::mbarrier_arrive || op.sync == SyncRole::mbarrier_count) check_own_address(w, op, mask);
  if (events_.empty()) return;
  WarpState& state = state_of(w);
  const Access who = access_of(w, op, mask, Agent::thread, false);
  const Ordering o = launch_.ordering(op);
  bool released = false;
  for (const BarrierEvent& e : events_) {
    switch (e.what) {
      case MbarrierEvent::init: init(e, w, op, mask); break;
      case MbarrierEvent::inval: inval(e, w, op, mask); break;
      default:
        released = true;
        arrive(e, state.clock, o, who);
    }
  }
  events_.clear();
  if (released) state.clock.tick();
}

// The program goes on as if the wait had answered true: nothing is acquired, because it may answer false (PTX ISA 9.7.13.15.16).
void ClusterMonitor::guess(WarpState& state, const MbarrierLedger::Told& told, const Access& who) {
  if (told.news) state.guesses.push_back({told.end.component, told.end.value, parts_.accesses.add(who)});
}

// A later wait may have shown that the phase is complete.
void ClusterMonitor::finish_guesses(const Cta& cta) {
  for (const WarpState& w : parts_.warps.of_cta(cta.rank)) {
    for (const WarpState::Guess& g : w.guesses) {
      if (w.clock.now.seen[g.phases] < g.phase)
        parts_.reporter.report(Rule::answer_not_tested, nullptr, parts_.accesses[g.wait], [&] { return fmt::format("an mbarrier of CTA rank {}", cta.rank); });
    }
  }
}

// A wait that returned true acquires everything that the phase's arrivals released.
void ClusterMonitor::wait(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = state_of(w);
  const bool parity = launch_.program->instruction(op).has(Mod::parity);
  const Ordering o = launch_.ordering(op);
  const uint32_t pc = pc_of(op);
  const LaneMask done = w.preds[op.dst] & mask;
  if (done != 0) ++state.passed[pc];
  struct Asked {
    uint32_t address, parity;
    LaneMask lanes;
  };
  std::vector<Asked> all;
  for_lanes(done, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t address = shared_address(w, a, op.as<payload::Mbarrier>().cluster_space || is_shared_generic(a));
    const uint64_t phase = lane_value(w, op.src[1], lane, !parity);
    const uint32_t asked = parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Asked& x) { return x.address == address && x.parity == asked; });
    if (same != all.end()) same->lanes |= 1u << lane;
    else all.push_back({address, asked, 1u << lane});
  });
  for (const Asked& asked : all) {
    if (!parts_.mbarriers.live(asked.address)) continue;
    parts_.mbarriers.check_init(asked.address, access_of(w, op, mask, Agent::thread, false), state.clock.now.seen);
    bool& news = waits_[pc];
    const auto observed = parts_.mbarriers.observe(asked.address, asked.parity, state.clock.now.seen);
    if (!observed.has_value()) continue;
    if (launch_.untested[pc] != 0) {
      guess(state, *observed, access_of(w, op, mask, Agent::thread, false));
      continue;
    }
    news = news || observed->news;
    const Message& m = observed->released;
    state.clock.now.wide.join(observed->home);
    if (o.acquire) {
      state.clock.part(asked.lanes, w.alive, observed->end.component, observed->end.value, m.seen);
      state.clock.acquire(m, o.wide);
    } else {
      state.clock.observed.join(m);
      state.clock.tensor_observed.join(m.tensor);
      parts_.warps.observe_running(state.clock.now.seen, m.seen);
    }
  }
}

// A suspended wait that gives up and is tried again goes on waiting.
void ClusterMonitor::blocked(const Warp& w) {
  WarpState::Blocked& b = state_of(w).blocked;
  for (const Standing& s : standings(w)) {
    if (!s.on_mbarrier()) continue;
    const auto passed = state_of(w).passed.find(s.pc);
    const WarpState::Blocked now{s.pc, s.address, s.parity, passed == state_of(w).passed.end() ? 0 : passed->second, parts_.cluster.now};
    if (!b.same(now)) b = now;
    return;
  }
}

void ClusterMonitor::named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) {
  WarpState& state = state_of(w);
  BarrierInstance& barrier = named_[w.cta->rank][id];
  state.named = barrier.arrive(state.clock.release());
  state.clock.tick();
  if (b.arrived == 0) barrier.complete();
}

void ClusterMonitor::close_cluster_barrier() {
  const uint64_t now = parts_.cluster.cluster_generation;
  if (std::exchange(cluster_generation_, now) != now) cluster_barrier_.complete();
}

void ClusterMonitor::cluster_barrier(const Warp& w, const DecodedOp& op) {
  WarpState& state = state_of(w);
  if (op.sync == SyncRole::cluster_wait) {
    close_cluster_barrier();  // exited threads can also complete the barrier
    parts_.warps.all_run(state.clock.now.seen);
    if (state.cluster == nullptr) return;
    state.clock.acquire(*state.cluster);
    state.clock.now.executed.join(state.cluster->executed);
    return;
  }
  Message m = launch_.ordering(op).release ? state.clock.release() : state.clock.fenced;
  m.tensor = state.clock.tensor_released;
  m.executed = state.clock.now.seen;
  state.cluster = cluster_barrier_.arrive(m);
  state.clock.tick();
  close_cluster_barrier();
}

void ClusterMonitor::fence(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpClock& c = state_of(w).clock;
  const isa::Instruction& i = launch_.program->instruction(op);
  switch (op.sync) {
    case SyncRole::thread_fence:
      if (!launch_.ordering(op).cross_cluster) c.observed.cross_cluster.clear();
      join_fence(c, !i.has(Mod::acquire), !i.has(Mod::release));
      if (!launch_.ordering(op).wide) c.fenced.wide.clear();
      if (!i.has(Mod::acquire)) c.fenced_cross_cluster = launch_.ordering(op).cross_cluster;
      break;
    case SyncRole::mbarrier_init_fence: c.fence_inits(); break;
    case SyncRole::async_proxy_fence:
      if (!i.has(Mod::global)) c.now.proxy_shared.join(c.now.seen);
      if (i.mod(isa::Slot::space) == Mod::none || i.has(Mod::global)) c.now.proxy_global.join(c.now.seen);
      c.tick();
      break;
    case SyncRole::async_generic_fence:
      if (i.has(Mod::acquire)) join_fence(c, false, true);
      c.now.proxy_shared.join(c.now.seen);
      if (i.has(Mod::release)) join_fence(c, true, false);
      break;
    case SyncRole::tensor_fence_before:
      c.tensor_released.join(c.now.tensor);
      c.tensor_released.raise(c.self, c.time());
      c.tick();
      break;
    case SyncRole::tensor_fence_after: c.now.tensor.join(c.tensor_observed); break;
    default: throw InternalError("the hazard checker meets a fence that it has no rule for");
  }
}

}  // namespace drywell::sim::check
