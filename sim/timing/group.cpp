#include "sim/timing/group.h"

#include <algorithm>
#include <bit>

#include "sim/exec/fragment_lines.h"
#include "sim/exec/lane_window.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/warp_runner.h"

namespace drywell::sim {

using Kind = Event::Kind;

Group::Group(const TimingContext& context, uint32_t first_sm, uint32_t sms)
    : context_(context),
      arch_(*context.arch),
      program_(*context.launch->program),
      timed_(*context.program),
      sms_(make_sms(arch_, first_sm, sms)),
      pipes_(arch_),
      timing_(context, sms_, pipes_, memory_),
      async_(arch_, context.values, sms_, events_, memory_),
      account_(context),
      residents_(context, sms_, account_),
      observed_(context.launch->observers != nullptr) {
  for (SmUnits& s : sms_) {
    for (Partition& p : s.partitions) slots_.push_back(&p.slot);
  }
}

// ---- clusters

void Group::start_cluster(uint64_t index, Time start) {
  take_answers();
  events_.push(start, Kind::start, residents_.announce(index));
}

void Group::begin_cluster(uint32_t announced, Time t) {
  const uint32_t place = residents_.begin(announced, t);
  Resident& r = residents_.at(place);
  async_.begin(place, *r.cluster);
  for (const uint32_t id : r.warps) schedule(id);
}

void Group::try_end_cluster(uint32_t place, Time t) {
  if (const auto f = residents_.end_if_complete(place, t); f.has_value()) fail(*f, *residents_.at(place).cluster);
}

void Group::fail(const Fault& f, const Cluster& c) {
  if (fault_.has_value()) return;
  fault_ = f;
  fault_cluster_ = c.index;
}

// ---- the loop

void Group::run(Time until) {
  take_answers();
  while (!fault_.has_value() && !context_.bounds->ended()) {
    const Turn turn = next_turn(slots_);
    const Time event = events_.next_time();
    if (std::min(event, turn.at) >= until) break;
    if (event <= turn.at) handle(events_.pop());
    else run_ahead(*slots_[turn.slot], turn.second, until);
  }
}

// Local instructions may run ahead of the other sub-partitions; any other waits for its turn. Listeners see every instruction in the
// order of cycles.
void Group::run_ahead(IssueSlot& slot, Time second, Time until) {
  const Time ahead = observed_ || second > kNever - kLookahead ? second : second + kLookahead;
  do {
    issue_next(slot);
    if (slot.next() >= until || events_.next_time() <= slot.next()) break;
    if (slot.next() < second) continue;
    if (slot.next() >= ahead || timed_.ops[next_of(slot).warp->pc].kind != OpKind::local) break;
  } while (!fault_.has_value());
}

bool Group::advance(Time until) {
  if (fault_.has_value()) return false;
  const Turn turn = next_turn(slots_);
  const Time event = events_.next_time();
  if (std::min(event, turn.at) >= until) return false;
  now_ = std::min(event, turn.at);
  if (event <= turn.at) handle(events_.pop());
  else issue_next(*slots_[turn.slot]);
  return true;
}

void Group::handle(const Event& e) {
  switch (e.kind) {
    case Kind::start: begin_cluster(e.a, e.time); break;
    case Kind::read:
    case Kind::write: moment(e.a, e.b, e.time, false); break;
    case Kind::finish: moment(e.a, e.b, e.time, true); break;
    case Kind::tma_start:
      if (async_.start_copy(e.a, e.b, e.time)) moment(e.a, e.b, e.time, false);
      break;
    case Kind::tma_data: async_.data(memory_.take(e.a), e.time); break;
    case Kind::load_data: load_data(e.a, e.time); break;
    case Kind::wake:
      if (residents_.warp(e.a).serial == e.b && residents_.warp(e.a).state == WarpState::blocked) execute(e.a, e.time, true);
      break;
    case Kind::time_out: time_out(e.a, e.time); return;
  }
  last_activity_ = std::max(last_activity_, e.time);
}

void Group::take_answers() {
  memory_.take_answers([&](Time done, uint32_t token) { events_.push(done, memory_.is_load(token) ? Kind::load_data : Kind::tma_data, token); });
}

void Group::issue_next(IssueSlot& slot) {
  const Time t = slot.next();
  const uint32_t id = slot.warp();
  WarpIssueState& w = residents_.warp(id);
  const OpInfo& x = timed_.ops[w.warp->pc];
  const Time admitted = pipes_.admits(sm_of(w), *w.unit, x, t);
  if (admitted > t) {
    slot.put_off(admitted);
    return;
  }
  w.admitted = slot.offered(w.place);
  slot.issue(x.kind > OpKind::exit, Time{x.slots} + x.elsewhere);
  execute(id, t, false);
}

// One line a lane.
void Group::gather_lines(const FragmentLines& lines) {
  addresses_.mask = lines.count == kWarpSize ? kFullMask : (1u << lines.count) - 1;
  addresses_.bytes = lines.bytes;
  for (uint32_t i = 0; i < lines.count; ++i) addresses_.at[i] = lines.address + i * lines.stride;
}

void Group::gather_addresses(const Warp& w, const OpInfo& x, LaneMask mask) {
  if (x.piece != 0) return gather_lines(fragment_lines(w, program_.code[w.pc]));
  addresses_.mask = mask;
  addresses_.bytes = x.bytes;
  lane_addresses(w, program_.code[w.pc], addresses_.at);
}

// `resumed`: the instruction blocked before and its condition is now met; it does not issue again.
void Group::execute(uint32_t warp, Time t, bool resumed) {
  WarpIssueState& w = residents_.warp(warp);
  Warp& g = *w.warp;
  Cluster& c = *g.cta->cluster;
  const uint32_t pc = g.pc, resident = w.resident;
  const OpInfo& x = timed_.ops[pc];
  const DecodedOp& op = program_.code[pc];
  if (resumed) account_.resume(w, x, t);
  else account_.issue(w, x, t);
  const LaneMask mask = g.active & read_pred(g, op.guard);
  if (x.kind == OpKind::memory && mask != 0) gather_addresses(g, x, mask);
  const LaneMask active = g.active;
  if (x.kind == OpKind::barrier && !resumed) barrier_arrival_ = pipes_.arrive(sm_of(w), x, t);
  c.now = t;
  const uint64_t first_new = c.next_op;
  count_move(pc);
  const RunStop stop = run_one(g, program_);
  if (stop == RunStop::fault) {
    fail(fault_of(g), c);
    return;
  }
  last_activity_ = t;
  if (stop == RunStop::blocked) {
    block(warp, t + 1);
  } else if (stop == RunStop::finished) {
    residents_.end_warp(w);
    if (residents_.at(resident).live_warps == 0) try_end_cluster(resident, t + 1);
    if (residents_.at(resident).cluster == nullptr) return;
  } else {
    timing_.complete(w, warp, residents_.at(resident).waits, {x, pc, mask, active, t, resumed, barrier_arrival_, addresses_, c.next_op - first_new});
    schedule(warp);
  }
  if (x.kind == OpKind::local) return;
  after(resident, x, first_new, t);
  if (op.sync == isa::SyncRole::tmem_dealloc) wake_allocators(t + timing_.fence_before(x) + 1);
}

// An instruction's effects on others: starts the operations that it issued, and wakes the warps whose waits it ended.
void Group::after(uint32_t resident, const OpInfo& x, uint64_t first_new, Time t) {
  const Time there = t + timing_.fence_before(x);
  Cluster& c = *residents_.at(resident).cluster;
  const size_t fresh = c.next_op - first_new;
  for (size_t i = c.pending.size() - fresh; i < c.pending.size(); ++i) async_.dispatch(resident, c.pending[i], there);
  WakeTimes at = thread_wake(arch_, there);
  if (x.kind == OpKind::barrier) at.barrier = timing_.release(barrier_arrival_);
  wake(residents_.at(resident).waits.changed(at));
}

// A folded instruction executes with the one before it. Returns false if it blocks.
bool Group::run_folded(WarpIssueState& w, const OpInfo& x) {
  count_move(w.warp->pc);
  const RunStop stop = run_one(*w.warp, program_);
  if (stop == RunStop::fault) fail(fault_of(*w.warp), *w.warp->cta->cluster);
  if (stop == RunStop::blocked) return false;
  w.registers.fold(timed_.operands(x));
  return true;
}

// Computes when the warp's next instruction could issue.
void Group::schedule(uint32_t warp) {
  WarpIssueState& w = residents_.warp(warp);
  const OpInfo* x;
  for (;;) {
    pick_lanes(*w.warp);
    x = &timed_.ops[w.warp->pc];
    if (x->kind != OpKind::folded) break;
    if (!run_folded(w, *x)) {
      block(warp, std::max(w.hold, w.mark));
      return;
    }
    if (fault_.has_value()) return;
  }
  Readiness r = w.registers.find(timed_.operands(*x), w.hold);
  if (const uint64_t full = w.registers.blocking_load(); x->kind == OpKind::memory && full != Readiness::kNoLoad) r.load = full;
  w.ready = r.ready;
  if (r.load != Readiness::kNoLoad) {
    w.state = WarpState::load;
    w.load = r.load;
    w.wait_reason = Stall::memory;
    w.unit->slot.offer(w.place, kNever);
    return;
  }
  w.state = WarpState::ready;
  w.inputs = r.inputs;
  w.wait_reason = r.why;
  w.unit->slot.offer(w.place, r.ready, x->admission);
}

// The answer to a request is back at the SM.
void Group::load_data(uint32_t token, Time t) {
  const OutstandingRequest& p = memory_.take(token);
  if (p.fill_l1) {
    for (const ByteRange& r : p.runs) sms_[p.sm].l1.fill(r.address, r.bytes);
  }
  loaded(p.first, t);
  for (const WaitingLoad& other : p.others) loaded(other, t);
}

// The warp may have exited, and another one may have taken its place.
void Group::loaded(const WaitingLoad& p, Time t) {
  WarpIssueState& w = residents_.warp(p.warp);
  if (w.state == WarpState::none || w.state == WarpState::finished || w.resident != p.resident || w.warp->cta->serial != p.serial) return;
  w.registers.answer(p.load, t);
  if (w.state != WarpState::load || w.load != p.load) return;
  account_.answer(w, t);
  w.hold = std::max(w.hold, t);
  schedule(p.warp);
}

void Group::moment(uint32_t resident, uint64_t op, Time t, bool to_end) {
  Resident& r = residents_.at(resident);
  if (const auto fault = async_.moment(resident, op, t, to_end); fault.has_value()) {
    fail(*fault, *r.cluster);
    return;
  }
  wake(r.waits.changed(async_wake(arch_, t)));
  if (r.live_warps == 0) try_end_cluster(resident, t);
}

// ---- waits

void Group::block(uint32_t warp, Time t) {
  WarpIssueState& w = residents_.warp(warp);
  w.state = WarpState::blocked;
  w.wait_reason = stall_of(w.warp->block.reason);
  w.blocked_at = t;
  ++w.serial;
  residents_.at(w.resident).waits.add(warp, *w.warp);
  w.unit->slot.offer(w.place, kNever);
  if (!w.warp->waits_on_mbarrier || w.time_out_queued) return;
  w.time_out_queued = true;
  events_.push(t + static_cast<Time>(arch_.mbarrier.suspend_limit), Kind::time_out, warp);
}

void Group::wake(const std::vector<WakeList::Wake>& woken) {
  for (const WakeList::Wake& k : woken) events_.push(k.at, Kind::wake, k.warp, ++residents_.warp(k.warp).serial);
}

// Other CTAs of the SM, or pairs with a CTA on it, may wait for the columns.
void Group::wake_allocators(Time at) {
  for (Resident& r : residents_.all()) wake(r.waits.allocators(at));
}

// A suspended try_wait that no event woke returns false (PTX ISA 9.7.13.15.16: potentially blocking, time-limited).
void Group::time_out(uint32_t warp, Time t) {
  WarpIssueState& w = residents_.warp(warp);
  w.time_out_queued = false;
  if (w.state != WarpState::blocked || !w.warp->waits_on_mbarrier) return;
  const Time due = w.blocked_at + static_cast<Time>(arch_.mbarrier.suspend_limit);
  WakeList& waits = residents_.at(w.resident).waits;
  if (!waits.holds(warp)) return;  // the wake is scheduled already
  if (t < due) {
    w.time_out_queued = true;
    events_.push(due, Kind::time_out, warp);
    return;
  }
  waits.remove(warp);
  w.warp->timed_out = true;
  execute(warp, t, true);
}

// ---- queries

Time Group::next_time() const {
  Time t = std::min(memory_.first_answer(), events_.next_time());
  for (const IssueSlot* s : slots_) t = std::min(t, s->next());
  return t;
}

const Warp* Group::next_warp() const {
  const Turn turn = next_turn(slots_);
  if (events_.next_time() <= turn.at && events_.next_time() != kNever) {
    const Event& e = events_.next();
    return e.kind == Kind::wake && residents_.warp(e.a).serial == e.b ? residents_.warp(e.a).warp : nullptr;
  }
  return turn.at == kNever ? nullptr : next_of(*slots_[turn.slot]).warp;
}

std::optional<Group::Waiting> Group::waiting(const Warp& warp) const {
  const WarpIssueState* w = residents_.find(warp);
  if (w == nullptr) return std::nullopt;
  switch (w->state) {
    case WarpState::ready: {
      const Time offered = w->unit->slot.offered(w->place);
      return Waiting{w->ready > w->hold ? w->wait_reason : offered > w->ready ? Stall::pipe_busy
                                                                              : w->hold_reason,
                     std::max(w->ready, offered), true};
    }
    case WarpState::load: return Waiting{Stall::memory, w->mark, false};
    case WarpState::blocked: return Waiting{w->wait_reason, w->blocked_at, false};
    case WarpState::none:
    case WarpState::finished: return std::nullopt;
  }
  return std::nullopt;
}

bool Group::stuck() const {
  return events_.only_time_outs() && memory_.quiet() && std::all_of(slots_.begin(), slots_.end(), [](const IssueSlot* s) { return s->next() == kNever; });
}

}  // namespace drywell::sim
