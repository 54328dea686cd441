#include "sim/check/mbarrier_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/spec.h"
#include "sim/check/own_address.h"
#include "sim/check/standing.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/mbarrier.h"

namespace drywell::sim::check {

using isa::Mod;
using isa::SyncRole;

// Called in the middle of an instruction. The lanes of an instruction arrive one by one.
void MbarrierUse::event(uint32_t address, MbarrierEvent what, int64_t amount) {
  const bool more = what == MbarrierEvent::arrive && !events_.empty() && events_.back().what == what && events_.back().address == address;
  if (more)
    events_.back().amount += amount;
  else
    events_.push_back({address, what, amount});
}

void MbarrierUse::init(const Event& e, const Warp& w, const DecodedOp& op, LaneMask mask) {
  Access who = parts_.access(w, op, mask, Agent::mbarrier, true);
  Component& inits = parts_.state_of(w).clock.inits;
  if (inits == 0) inits = parts_.components.next();
  who.done = inits;
  who.spare = true;
  const AccessId id = parts_.mbarriers.init(e.address, who);
  if (id != 0) parts_.memory.touch({Memory::shared, shared_rank(e.address), shared_offset(e.address), 8}, id, parts_.state_of(w).clock);
}

// The object's word keeps its bytes, as after a store.
void MbarrierUse::inval(const Event& e, const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (!parts_.mbarriers.inval(e.address, parts_.access(w, op, mask, Agent::ended, true), parts_.state_of(w).clock.now.seen)) return;
  parts_.memory.overwrite(shared_rank(e.address), shared_offset(e.address), 8, parts_.accesses.add(parts_.access(w, op, mask, Agent::thread, true)));
}

void MbarrierUse::arrive(const Event& e, const WarpClock& clock, Ordering o, const Access& who) {
  if (e.what == MbarrierEvent::phase_complete) return parts_.mbarriers.complete_phase(e.address);
  parts_.mbarriers.check_init(e.address, who, clock.now.seen);
  parts_.mbarriers.note(e.address, {e.what, e.amount, who.pc, who.cta, who.warp, false}, clock.arrival(o.release, o.wide), clock.now.wide, who);
}

void MbarrierUse::instruction(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.sync == SyncRole::mbarrier_arrive || op.sync == SyncRole::mbarrier_count) {
    if (!op.as<payload::Mbarrier>().cluster_space) check_own_address(parts_, w, op, mask, Agent::arrival, false);
  }
  if (events_.empty()) return;
  WarpState& state = parts_.state_of(w);
  const Access who = parts_.access(w, op, mask, Agent::thread, false);
  const Ordering o = parts_.launch.ordering(op);
  bool released = false;
  for (const Event& e : events_)
    if (e.what == MbarrierEvent::arrive) join_lanes(state, e.address, mask, w.alive);
  for (const Event& e : events_) {
    switch (e.what) {
      case MbarrierEvent::init: init(e, w, op, mask); break;
      case MbarrierEvent::inval: inval(e, w, op, mask); break;
      default:
        released = true;
        state.clock.note_release(mask, o.release);
        arrive(e, state.clock, o, who);
    }
  }
  events_.clear();
  if (released) state.clock.tick();
}

// Lanes that arrive one after the other in one phase of an mbarrier arrive together.
void MbarrierUse::join_lanes(WarpState& state, uint32_t address, LaneMask mask, LaneMask alive) {
  const BarrierState* b = parts_.mbarriers.find(address);
  WarpState::Arrived& here = state.arrived[address];
  if (b == nullptr || here.phase != b->phase) here = {b == nullptr ? 0 : b->phase, 0};
  state.clock.join_lanes(here.lanes |= mask, alive);
}

// The program goes on as if the wait had answered true: nothing is acquired, because it may answer false (PTX ISA 9.7.13.15.16).
void MbarrierUse::guess(WarpState& state, const MbarrierLedger::Observed& observed, const Access& who) {
  if (observed.news) state.guesses.push_back({observed.end.component, observed.end.value, parts_.accesses.add(who)});
}

// A later wait may have shown that the phase is complete.
void MbarrierUse::finish(const Cta& cta) {
  for (const WarpState& w : parts_.warps.of_cta(cta.rank)) {
    for (const WarpState::Guess& g : w.guesses) {
      if (w.clock.now.seen[g.phases] < g.phase)
        parts_.reporter.report(Rule::answer_not_tested, nullptr, parts_.accesses[g.wait], [&] { return fmt::format("an mbarrier of CTA rank {}", cta.rank); });
    }
  }
}

// The objects and phases for which lanes' waits returned true.
std::vector<MbarrierUse::Asked> MbarrierUse::asked(const Warp& w, const DecodedOp& op, LaneMask done) const {
  const bool parity = parts_.launch.program->instruction(op).has(Mod::parity);
  std::vector<Asked> all;
  for_lanes(done, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t address = shared_address(w, a, op.as<payload::Mbarrier>().cluster_space || is_shared_generic(a));
    const uint64_t phase = lane_value(w, op.src[1], lane, !parity);
    const uint32_t asked = parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Asked& x) { return x.address == address && x.parity == asked; });
    if (same != all.end())
      same->lanes |= 1u << lane;
    else
      all.push_back({address, asked, 1u << lane});
  });
  return all;
}

// A relaxed wait acquires at the next acquiring fence.
void MbarrierUse::acquire(const Warp& w, const MbarrierLedger::Observed& observed, LaneMask lanes, Ordering o) {
  WarpClock& clock = parts_.state_of(w).clock;
  const Message& m = observed.released;
  clock.now.wide.join(observed.home);
  if (o.acquire) {
    clock.part(lanes, w.alive, observed.end.component, observed.end.value, m.seen);
    if ((w.alive & ~lanes) != 0) clock.learn(lanes, m.seen);
    clock.acquire(m, o.wide);
  } else {
    clock.observed.join(m);
    clock.tensor_observed.join(m.tensor);
    parts_.warps.observe_running(clock.now.seen, m.seen);
  }
}

// One wait of a loop that is true twice for one phase has the parity of a phase that is over.
void MbarrierUse::note_phase(WarpState::Repeated& r, uint32_t phase, LaneMask lanes) {
  if (r.phase != phase) r = {phase, 0, r.times};
  r.times += (r.lanes & lanes) != 0 ? 1 : 0;
  r.lanes |= lanes;
}

// A wait that returned true acquires everything that the phase's arrivals released.
void MbarrierUse::pass(const Warp& w, const DecodedOp& op, LaneMask mask, const Asked& asked) {
  if (!parts_.mbarriers.live(asked.address)) return;
  WarpState& state = parts_.state_of(w);
  const uint32_t pc = parts_.pc_of(op);
  parts_.mbarriers.check_init(asked.address, parts_.access(w, op, mask, Agent::thread, false), state.clock.now.seen);
  bool& news = waits_[pc];
  const auto observed = parts_.mbarriers.observe(asked.address, asked.parity, state.clock.now.seen);
  if (!observed.has_value()) return;
  note_phase(state.repeated[{pc, asked.address}], observed->end.value, asked.lanes);
  if (parts_.launch.untested[pc] != 0) return guess(state, *observed, parts_.access(w, op, mask, Agent::thread, false));
  news = news || observed->news;
  acquire(w, *observed, asked.lanes, parts_.launch.ordering(op));
}

void MbarrierUse::wait(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  const uint32_t pc = parts_.pc_of(op);
  const LaneMask done = w.preds[op.dst] & mask;
  if (done != 0) ++state.passed[pc];
  for (const Asked& a : asked(w, op, done)) pass(w, op, mask, a);
  if ((w.alive & ~done) == 0 && parts_.launch.untested[pc] == 0) state.clock.meet();
  state.resized = false;
}

// A suspended wait that gives up and is tried again goes on waiting.
void MbarrierUse::blocked(const Warp& w) {
  WarpState::Blocked& b = parts_.state_of(w).blocked;
  for (const Standing& s : standings(w)) {
    if (!s.on_mbarrier()) continue;
    const auto passed = parts_.state_of(w).passed.find(s.pc);
    const WarpState::Blocked now{s.pc, s.address, s.parity, passed == parts_.state_of(w).passed.end() ? 0 : passed->second, parts_.cluster.now};
    if (!b.same(now)) b = now;
    return;
  }
}

}  // namespace drywell::sim::check
