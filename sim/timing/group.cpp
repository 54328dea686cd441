#include "sim/timing/group.h"

#include <algorithm>

#include "drywell/core/error.h"
#include "sim/schedule/functional.h"
#include "sim/events/hub.h"

namespace drywell::sim {

Group::Group(const TimingContext& context, uint32_t first_sm, uint32_t sms)
    : context_(context), arch_(*context.arch), figures_(*context.figures), program_(*context.launch->program), timed_(*context.program) {
  for (uint32_t i = 0; i < sms; ++i) {
    sms_.emplace_back(arch_);
    sms_.back().id = first_sm + i;
    sms_.back().l1.resize(context.l1_bytes);
  }
  for (SmUnits& s : sms_) {
    for (Partition& p : s.partitions) partitions_.push_back(&p);
  }
  account_.role_cycles.resize(context.roles.size());
  account_.role_warps.resize(context.roles.size());
  account_.role_instructions.resize(context.roles.size());
  account_.lines.resize(timed_.lines.size());
  observed_ = context.launch->observers != nullptr;
}

void Group::push(Time t, EventKind k, uint32_t a, uint64_t b) {
  if (k == EventKind::time_out) ++time_outs_;
  events_.push_back({t, next_event_++, k, a, b});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void Group::start_cluster(uint64_t index, Time start) {
  take_answers();
  starting_.push_back({index, start});
  ++live_clusters_;
  push(start, EventKind::start, static_cast<uint32_t>(starting_.size() - 1));
}

void Group::begin_cluster(uint32_t which, Time t) {
  const uint64_t index = starting_[which].first;
  uint32_t r;
  if (free_residents_.empty()) {
    r = static_cast<uint32_t>(residents_.size());
    residents_.emplace_back();
  } else {
    r = free_residents_.back();
    free_residents_.pop_back();
  }
  Resident& res = residents_[r];
  res = {};
  res.cluster = make_cluster(*context_.launch, index, t);
  res.seen_epoch.resize(res.cluster->ctas.size());
  for (uint32_t rank = 0; rank < res.cluster->ctas.size(); ++rank) {
    Cta& cta = *res.cluster->ctas[rank];
    SmUnits& sm = sms_[rank % sms_.size()];
    cta.sm = sm.id;
    if (sm.tensor_memory == nullptr) sm.tensor_memory = std::move(cta.own_tmem);
    cta.own_tmem.reset();
    cta.tmem = sm.tensor_memory.get();
    sm.used = true;
    res.seen_epoch[rank] = cta.wake_epoch;
    for (Warp& w : cta.warps) {
      uint32_t id;
      if (free_warps_.empty()) {
        id = static_cast<uint32_t>(warps_.size());
        warps_.push_back(std::make_unique<WarpIssueState>());
        warps_.back()->registers = Scoreboard(context_.launch->memory);
      } else {
        id = free_warps_.back();
        free_warps_.pop_back();
      }
      WarpIssueState& c = *warps_[id];
      c.restart(timed_.slot_count);
      c.warp = &w;
      c.resident = r;
      c.sm = static_cast<uint16_t>(rank % sms_.size());
      c.role = context_.role_of_warp[w.index];
      c.unit = &sm.partitions[w.index % sm.partitions.size()];
      c.stalls = account_.role_cycles[c.role].data();
      c.mark = c.hold = c.block_start = t;
      Partition& p = *c.unit;
      c.place = static_cast<uint16_t>(p.warps.size());
      p.warps.push_back(id);
      p.at.push_back(kNever);
      p.last.push_back(0);
      ++account_.role_warps[c.role];
      res.warps.push_back(id);
    }
    res.live_warps += static_cast<uint32_t>(cta.warps.size());
  }
  for (const uint32_t id : res.warps) schedule(id);
}

void Group::set_candidate(WarpIssueState& w, Time at) {
  Partition& p = *w.unit;
  p.at[w.place] = at;
  select(p);
}

// The warp ready longest; among equals the one that issued least recently.
void Group::select(Partition& p) {
  Time best = kNever, last = kNever;
  uint32_t pick = 0;
  for (uint32_t i = 0; i < p.at.size(); ++i) {
    if (p.at[i] < best || (p.at[i] == best && p.last[i] < last)) {
      best = p.at[i];
      last = p.last[i];
      pick = i;
    }
  }
  p.pick = pick;
  p.candidate = best == kNever ? kNever : std::max(best, p.next_issue);
}

Group::Turn Group::next_turn() const {
  Turn t;
  for (Partition* p : partitions_) {
    if (p->candidate < t.at || (p->candidate == t.at && t.partition != nullptr && p->last_shared < t.partition->last_shared)) {
      t.second = t.at;
      t.at = p->candidate;
      t.partition = p;
    } else {
      t.second = std::min(t.second, p->candidate);
    }
  }
  return t;
}

void Group::take_event() {
  std::pop_heap(events_.begin(), events_.end(), std::greater<>());
  const Event e = events_.back();
  events_.pop_back();
  handle(e);
}

void Group::run(Time until) {
  take_answers();
  while (!fault_.has_value()) {
    const Turn turn = next_turn();
    const Time event = events_.empty() ? kNever : events_.front().time;
    if (event <= turn.at) {
      if (event >= until) break;
      take_event();
      continue;
    }
    if (turn.at >= until) break;
    // Local instructions may run ahead of the other sub-partitions; anything else waits for its turn.
    // Listeners see every instruction in the order of cycles.
    Partition* const first = turn.partition;
    const Time second = turn.second;
    const Time ahead = observed_ || second > kNever - kLookahead ? second : second + kLookahead;
    do {
      issue_next(*first);
      if (first->candidate >= until || (!events_.empty() && events_.front().time <= first->candidate)) break;
      if (first->candidate < second) continue;
      if (first->candidate >= ahead) break;
      const WarpIssueState& w = *warps_[first->warps[first->pick]];
      if (timed_.ops[w.warp->pc].kind != OpKind::local) break;
    } while (!fault_.has_value());
  }
}

bool Group::advance(Time until) {
  if (fault_.has_value()) return false;
  const Turn turn = next_turn();
  const Time event = events_.empty() ? kNever : events_.front().time;
  if (std::min(event, turn.at) >= until) return false;
  now_ = std::min(event, turn.at);
  if (event <= turn.at) take_event();
  else issue_next(*turn.partition);
  return true;
}

const Warp* Group::next_warp() const {
  const Turn turn = next_turn();
  if (!events_.empty() && events_.front().time <= turn.at) {
    const Event& e = events_.front();
    return e.kind == EventKind::wake && warps_[e.a]->serial == e.b ? warps_[e.a]->warp : nullptr;
  }
  return turn.partition == nullptr ? nullptr : warps_[turn.partition->warps[turn.partition->pick]]->warp;
}

void Group::add_clusters(std::vector<Cluster*>& all) const {
  for (const Resident& r : residents_) {
    if (r.cluster != nullptr) all.push_back(r.cluster.get());
  }
}

bool Group::holds(uint64_t cluster) const {
  return std::any_of(residents_.begin(), residents_.end(), [&](const Resident& r) { return r.cluster != nullptr && r.cluster->index == cluster; });
}

std::optional<Group::Waiting> Group::waiting(const Warp& warp) const {
  for (const auto& w : warps_) {
    if (w->warp != &warp || w->state == WarpState::none) continue;
    switch (w->state) {
      case WarpState::ready:
        return Waiting{w->ready > w->hold ? w->wait_reason : w->admitted > w->ready ? Stall::pipe_busy : w->hold_reason, std::max(w->ready, w->admitted), true};
      case WarpState::load: return Waiting{Stall::memory, w->mark, false};
      case WarpState::blocked: return Waiting{w->wait_reason, w->blocked_at, false};
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

Time Group::next_time() const {
  Time t = std::min(first_answer_, events_.empty() ? kNever : events_.front().time);
  for (const Partition* p : partitions_) t = std::min(t, p->candidate);
  return t;
}

void Group::handle(const Event& e) {
  switch (e.kind) {
    case EventKind::start: begin_cluster(e.a, e.time); break;
    case EventKind::read: moments(e.a, e.b, e.time, false); break;
    case EventKind::write: moments(e.a, e.b, e.time, false); break;
    case EventKind::finish: moments(e.a, e.b, e.time, true); break;
    case EventKind::tma_start: start_tma(e.a, e.b, e.time); break;
    case EventKind::tma_data: tma_data(e.a, e.time); break;
    case EventKind::load_data: load_data(e.a, e.time); break;
    case EventKind::wake: {
      WarpIssueState& w = *warps_[e.a];
      if (w.serial == e.b && w.state == WarpState::blocked) execute(e.a, e.time, true);
      break;
    }
    case EventKind::time_out:
      --time_outs_;
      time_out(e.a, e.time);
      break;
  }
  if (e.kind != EventKind::time_out) last_activity_ = std::max(last_activity_, e.time);
}

void Group::take_answers() {
  for (const Answer& a : answers_) push(a.done, pending_[a.token].warp == ~0u ? EventKind::tma_data : EventKind::load_data, a.token);
  answers_.clear();
  first_answer_ = kNever;
}

void Group::end_warp(WarpIssueState& w, Time t) {
  Resident& r = residents_[w.resident];
  w.state = WarpState::finished;
  ++w.serial;
  account_.role_instructions[w.role] += w.warp->instructions;
  account_.instructions += w.warp->instructions;
  Partition& p = *w.unit;
  p.at[w.place] = kNever;
  select(p);
  --w.warp->cta->live_warps;
  --r.live_warps;
  r.cluster->wake_all();
  if (r.live_warps == 0) try_end_cluster(w.resident, t);
}

void Group::try_end_cluster(uint32_t resident, Time t) {
  Resident& r = residents_[resident];
  if (r.cluster == nullptr || r.live_warps != 0 || !r.cluster->pending.empty()) return;
  if (auto f = check_finished(*r.cluster); f.has_value()) {
    fail(*f, *r.cluster);
    return;
  }
  for (const uint32_t id : r.warps) {
    WarpIssueState& w = *warps_[id];
    charge(w, Stall::finished, t);
    Partition& p = *w.unit;
    // The last one takes the place.
    const uint32_t moved = p.warps.back();
    p.warps[w.place] = moved;
    p.at[w.place] = p.at.back();
    p.last[w.place] = p.last.back();
    warps_[moved]->place = w.place;
    p.warps.pop_back();
    p.at.pop_back();
    p.last.pop_back();
    select(p);
    w.state = WarpState::none;
    free_warps_.push_back(id);
  }
  finished.push_back({r.cluster->index, t});
  ended_progress_ += r.cluster->progress + 1;
  r.cluster.reset();
  r.warps.clear();
  free_residents_.push_back(resident);
  --live_clusters_;
}

void Group::fail(const Fault& f, const Cluster& c) {
  if (fault_.has_value()) return;
  fault_ = f;
  fault_cluster_ = c.index;
}

bool Group::stuck() const {
  if (events_.size() != time_outs_ || !answers_.empty() || !requests.empty()) return false;
  for (const Partition* p : partitions_) {
    if (p->candidate != kNever) return false;
  }
  return true;
}

uint64_t Group::progress() const {
  uint64_t n = ended_progress_;
  for (const Resident& r : residents_) {
    if (r.cluster != nullptr) n += r.cluster->progress;
  }
  return n;
}

const Cluster* Group::a_live_cluster() const {
  const Cluster* first = nullptr;
  for (const Resident& r : residents_) {
    if (r.cluster != nullptr && (first == nullptr || r.cluster->index < first->index))
      first = r.cluster.get();
  }
  return first;
}

}  // namespace drywell::sim
