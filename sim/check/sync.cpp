// Synchronisation: what a warp learns, and from whom. Fences, mbarriers, named and cluster barriers, flags in memory, waits.
#include <fmt/format.h>

#include <utility>

#include "drywell/isa/spec.h"
#include "sim/check/monitor.h"
#include "sim/exec/exec.h"

namespace drywell::sim::check {

using isa::Mod;
using isa::SyncRole;

namespace {

bool arrives(MbarrierEvent e) { return e == MbarrierEvent::arrive || e == MbarrierEvent::complete_tx; }

void join_fence(WarpClock& c, bool release, bool acquire) {
  if (acquire) {
    c.acquire(c.heard);
    c.heard = {};
  }
  if (!release) return;
  c.fenced = c.release();
  c.tick();
}

std::string barrier_place(const Cta& cta, uint32_t offset, uint32_t phase) {
  return fmt::format("mbarrier at {:#x} of CTA rank {}, phase {}", offset, cta.rank, phase);
}

}  // namespace

BarrierState* ClusterMonitor::find_barrier(uint32_t address) {
  if (shared_rank(address) >= ctas_.size()) return nullptr;
  auto& all = ctas_[shared_rank(address)].barriers;
  const auto found = all.find(shared_offset(address));
  return found == all.end() || !found->second.live ? nullptr : &found->second;
}

void ClusterMonitor::check_init(uint32_t address, const Access& who, const WarpClock& clock) {
  const BarrierState* b = find_barrier(address);
  if (b == nullptr || b->init == 0) return;
  const Access& init = accesses_[b->init];
  if (clock.now.seen[init.issuer] >= init.issued_at) return;
  reporter_.report(Rule::init_not_seen, &init, who, [&] { return fmt::format("mbarrier at {:#x} of CTA rank {}", shared_offset(address), shared_rank(address)); });
}

void ClusterMonitor::init(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask) {
  CtaState& cta = ctas_[e.cta->rank];
  BarrierState& b = cta.barriers[e.offset];
  const Access who = access_of(w, pc, mask, Agent::mbarrier, true);
  if (b.live) {
    const Access& old = accesses_[b.init];
    // Lanes of one instruction that all initialise the same object leave one state.
    if (old.pc == pc && old.issuer == who.issuer && old.issued_at == who.issued_at) return;
    reporter_.report(Rule::double_init, &old, who, [&] { return barrier_place(*e.cta, e.offset, b.phase); });
  }
  const Component component = b.component != 0 ? b.component : new_component();
  const uint32_t before = b.phase;
  b = {};
  b.component = component;
  b.phase = b.base = before;
  b.observed = before;
  b.live = true;
  b.init = accesses_.add(who);
  touch({Memory::shared, e.cta->rank, e.offset, 8}, b.init, state_of(w).clock, Rule::none);
}

// The object's word is left in its bytes, as a store would.
void ClusterMonitor::inval(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask) {
  CtaState& cta = ctas_[e.cta->rank];
  cta.barriers[e.offset].live = false;
  const StateId plain = states_.written(accesses_.add(access_of(w, pc, mask, Agent::thread, true)));
  cta.shared.update(e.offset, e.offset + 8, [&](StateId, uint64_t) { return plain; });
}

template <class Released>
void ClusterMonitor::arrive(const BarrierEvent& e, const Released& m, const Clock& home, const Access& who) {
  BarrierState& b = ctas_[e.cta->rank].barriers[e.offset];
  if (b.component == 0) b.component = new_component();
  if (e.what == MbarrierEvent::phase_complete) {
    b.collecting.seen.raise(b.component, b.phase + 1);
    b.done_wide_home[b.phase & 1] = b.wide_home;
    b.done[b.phase & 1] = b.collecting;  // arrivals of later phases are read-modify-writes: the release sequence goes on
    ++b.phase;
    std::swap(b.last_ledger, b.ledger);
    b.ledger.clear();
    return;
  }
  if (arrives(e.what) && b.phase > b.base && b.observed < b.phase)
    reporter_.report(Rule::phase_not_observed, nullptr, who, [&] { return barrier_place(*e.cta, e.offset, b.phase - b.base); });
  if (e.what == MbarrierEvent::arrive) {
    b.collecting.join(m);
    if (who.cta == e.cta->rank) b.wide_home.join(home);
  }
  b.ledger.push_back({e.what, e.amount, who.pc, who.cta, who.warp, running_ != 0});
}

// In the middle of an instruction, or while an operation writes and signals.
void ClusterMonitor::mbarrier(const Cta& cta, uint32_t offset, const Mbarrier&, MbarrierEvent what, int64_t amount) {
  if (what == MbarrierEvent::wait_true) return;
  const BarrierEvent e{&cta, offset, what, amount};
  Flight* const running = running_ == 0 ? nullptr : flights_.find(running_);
  if (running == nullptr) {
    // The lanes of an instruction arrive one by one.
    const bool more = what == MbarrierEvent::arrive && !events_.empty() && events_.back().what == what && events_.back().cta == &cta && events_.back().offset == offset;
    if (more) {
      events_.back().amount += amount;
    } else {
      events_.push_back(e);
    }
    return;
  }
  Flight& f = *running;
  if (what == MbarrierEvent::complete_tx && f.signalled < f.landings.size()) {
    BarrierState& b = ctas_[cta.rank].barriers[offset];
    if (b.component == 0) b.component = new_component();
    for (AccessId id : {f.landings[f.signalled++], f.source}) {
      if (id == 0) continue;
      accesses_.at(id).done = b.component;
      accesses_.at(id).done_at = b.phase + 1;
    }
  }
  if (what == MbarrierEvent::arrive && f.commit) {
    BarrierState& b = ctas_[cta.rank].barriers[offset];
    if (b.component == 0) b.component = new_component();
    Access arrival = f.who;
    arrival.agent = Agent::mma;
    arrival.write = true;
    arrival.done = b.component;
    arrival.done_at = b.phase + 1;
    ctas_[cta.rank].landings.push_back(accesses_.add(arrival));
  }
  arrive(e, f.message, f.message.wide, f.who);
}

void ClusterMonitor::barrier_events(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (events_.empty()) return;
  WarpState& state = state_of(w);
  const uint32_t pc = pc_of(op);
  const Access who = access_of(w, pc, mask, Agent::thread, false);
  const Ordering o = launch_.ordering(op);
  bool released = false;
  for (const BarrierEvent& e : events_) {
    switch (e.what) {
      case MbarrierEvent::init: init(e, w, pc, mask); break;
      case MbarrierEvent::inval: inval(e, w, pc, mask); break;
      default:
        released = true;
        if (e.what != MbarrierEvent::phase_complete) check_init(cluster_address(e.cta->rank, e.offset), who, state.clock);
        arrive(e, state.clock.arrival(o.release, o.wide), state.clock.now.wide, who);
    }
  }
  events_.clear();
  if (released) state.clock.tick();
}

// A wait that answered true tells the warp everything the phase's arrivals released.
void ClusterMonitor::wait(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = state_of(w);
  const bool parity = launch_.program->instruction(op).has(Mod::parity);
  const Ordering o = launch_.ordering(op);
  const uint32_t pc = pc_of(op);
  uint64_t last = ~uint64_t{0};
  const LaneMask done = w.preds[op.dst] & mask;
  if (done != 0) state.clock.part(done, w.alive);
  for_lanes(done, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t address = shared_address(w, a, (op.extra & 1) != 0 || is_shared_generic(a));
    const uint64_t phase = lane_value(w, op.src[1], lane, !parity);
    const uint32_t asked = parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
    if (std::exchange(last, uint64_t{address} << 1 | asked) == (uint64_t{address} << 1 | asked)) return;
    BarrierState* b = find_barrier(address);
    if (b == nullptr) return;
    check_init(address, access_of(w, pc, mask, Agent::thread, false), state.clock);
    // A thread that try_wait suspended may resume one phase later.
    const uint32_t phases = b->phase - b->base, seen = (phases & 1) != asked ? phases : phases - 1;
    bool& news = waits_[pc];
    if (seen == 0 || seen > phases) return;  // the phase before the first
    news = news || state.clock.now.seen[b->component] < b->base + seen;
    b->observed = std::max(b->observed, b->base + seen);
    const uint32_t which = (b->base + seen - 1) & 1;
    const Message& m = b->done[which];
    if ((w.alive & ~done) == 0) state.clock.behind.join(m.seen);
    state.clock.now.wide.join(b->done_wide_home[which]);
    if (o.acquire) {
      state.clock.acquire(m, o.wide);
    } else {
      state.clock.heard.join(m);
      state.clock.tensor_heard.join(m.tensor);
    }
  });
}

void ClusterMonitor::named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) {
  std::shared_ptr<Message>& instance = ctas_[w.cta->rank].named[id];
  if (instance == nullptr) instance = std::make_shared<Message>();
  WarpState& state = state_of(w);
  instance->join(state.clock.release());
  state.clock.tick();
  state.named = instance;
  if (b.arrived == 0) instance = nullptr;  // complete
}

void ClusterMonitor::cluster_barrier(const Warp& w, const DecodedOp& op) {
  WarpState& state = state_of(w);
  const auto close = [&] {
    if (std::exchange(cluster_generation_, cluster_.cluster_generation) != cluster_.cluster_generation) cluster_instance_ = nullptr;
  };
  if (op.sync == SyncRole::cluster_wait) {
    close();  // threads that exited can complete the barrier, too
    if (state.cluster != nullptr) state.clock.acquire(*state.cluster);
    return;
  }
  if (cluster_instance_ == nullptr) cluster_instance_ = std::make_shared<Message>();
  Message m = launch_.ordering(op).release ? state.clock.release() : state.clock.fenced;
  m.tensor = state.clock.tensor_told;
  cluster_instance_->join(m);
  state.clock.tick();
  state.cluster = cluster_instance_;
  close();
}

// Strong accesses: what was released into a place, a later one may acquire.
void ClusterMonitor::flags(const Warp& w, const DecodedOp& op, uint64_t key, bool store) {
  const Ordering o = launch_.ordering(op);
  WarpState& state = state_of(w);
  Flag& place = flags_[key];
  const auto rank = static_cast<uint16_t>(w.cta->rank);
  const bool loads = !store || isa::spec(op.opcode).memory == isa::MemoryRole::atomic;
  if (key >= window::kGlobalBase && launch_.follows_far()) far_flags(state, o, key, loads, store);
  if (loads) {
    if (const auto own = place.wide_in.find(rank); own != place.wide_in.end()) state.clock.now.wide.join(own->second);
    if (o.acquire) state.clock.acquire(place.message, o.wide);
    if (!o.acquire) state.clock.heard.join(place.message);
  }
  if (!store) return;
  Message m = o.release ? state.clock.release() : state.clock.fenced;
  if (ctas_.size() > 1) place.wide_in[rank].join(state.clock.now.wide);
  if (!o.wide) m.wide.clear();
  place.message.join(m);
  state.clock.tick();
}

void ClusterMonitor::fence(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpClock& c = state_of(w).clock;
  const isa::Instruction& i = launch_.program->instruction(op);
  switch (op.sync) {
    case SyncRole::thread_fence:
      if (!launch_.ordering(op).far) c.heard.far.clear();
      join_fence(c, !i.has(Mod::acquire), !i.has(Mod::release));
      if (!launch_.ordering(op).wide) c.fenced.wide.clear();
      if (!i.has(Mod::acquire)) c.fenced_far = launch_.ordering(op).far;
      break;
    case SyncRole::mbarrier_init_fence: join_fence(c, true, false); break;
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
      c.tensor_told.join(c.now.tensor);
      c.tensor_told.raise(c.self, c.time());
      c.tick();
      break;
    case SyncRole::tensor_fence_after: c.now.tensor.join(c.tensor_heard); break;
    default: throw InternalError("the hazard checker meets a fence that it has no rule for");
  }
}

}  // namespace drywell::sim::check
