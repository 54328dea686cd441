#include "sim/schedule/cluster_stepper.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "drywell/sim/driver_words.h"
#include "sim/engine/engine.h"
#include "sim/exec/environment.h"
#include "sim/schedule/fingerprint.h"
#include "sim/schedule/spins.h"
#include "sim/schedule/warp_runner.h"
#include "sim/state/program.h"

namespace drywell::sim {

using At = SchedulePosition::At;

ClusterStepper::ClusterStepper(const Launch& launch, const RunOptions& options, const RunBounds& bounds, uint64_t index)
    : cluster_(make_cluster(launch, index)), program_(*launch.program), policy_(options.driver), part_lanes_(parts_lanes(options)), in_grid_(grid_workspace(launch) != 0), bounds_(bounds), s_(options.seed * 0x9E3779B97F4A7C15ull + index) {
  for (auto& cta : cluster_->ctas) {
    for (Warp& w : cta->warps) warps_.push_back(&w);
  }
  s_.order.resize(warps_.size());
  std::iota(s_.order.begin(), s_.order.end(), 0u);
}

// Instructions of a turn, of one in a program that polls, of a cluster that has polled for long, and of a turn in a cooperative launch.
constexpr uint64_t kTurn = 4096, kPollingTurn = 256, kInStep = 100'000, kGridTurn = 8;

// Instructions of one turn. Small, so that spinning warps do not delay the others, and that lanes part at any instruction; smaller where a
// program polls, because it may poll a limited number of times.
uint64_t ClusterStepper::quantum() {
  if (part_lanes_) return 1 + s_.random.below(16);
  if (in_grid_ && !program_.polling.empty()) return 1 + s_.random.below(kGridTurn);
  if (policy_ == DriverKind::shuffled) return 1 + s_.random.below(256);
  if (!s_.watch.has_waited() && program_.polling.empty()) return kTurn;
  // Turns of one length can fall in step with a lock: its holder's turns always end while it holds it, and no other warp ever gets it.
  return s_.instructions < kInStep ? kPollingTurn : 1 + s_.random.below(kPollingTurn);
}

Advance ClusterStepper::begin_round() {
  const bool done = std::all_of(warps_.begin(), warps_.end(), [](const Warp* w) { return w->finished(); });
  if (done && cluster_->pending.empty()) {
    fault_ = check_finished(*cluster_);
    return fault_.has_value() ? Advance::fault : Advance::finished;
  }
  s_.round_progress = cluster_->progress;
  s_.ran = false;
  if (policy_ == DriverKind::shuffled) {
    for (size_t i = s_.order.size(); i > 1; --i) std::swap(s_.order[i - 1], s_.order[s_.random.below(i)]);
    if (s_.random.below(4) == 0) time_out_one_wait();
  }
  s_.turn = 0;
  s_.at = At::next_turn;
  return Advance::decision;
}

// A suspended try_wait may answer false before its phase is complete (PTX ISA 9.7.13.15.16): a program without a retry loop must
// not pass. So does the first try_wait of some turns (next_turn). One suspended warp a round, so that a cluster in a deadlock still has rounds in which nothing runs.
void ClusterStepper::time_out_one_wait() {
  const auto waits = [&](uint32_t i) { return !warps_[i]->finished() && warps_[i]->waits_on_mbarrier; };
  const auto first = std::find_if(s_.order.begin(), s_.order.end(), waits);  // the order is random
  if (first != s_.order.end()) warps_[*first]->timed_out = true;
}

// PTX promises nothing about lanes of a warp that no instruction keeps together (PTX ISA 3.1): one runs ahead, or falls behind, or a half does.
void ClusterStepper::part_lanes(Warp& w) {
  if (w.held_back != 0 && s_.random.below(2) == 0) w.held_back = 0;
  if (w.held_back != 0 || s_.random.below(2) != 0) return;
  // Lanes that are elsewhere already get turns of their own: groups that part and meet again would spin before them for ever.
  if (!w.waiting.empty() && s_.random.below(2) == 0) {
    w.held_back = w.active;
    return;
  }
  if (std::popcount(w.active) < 2) return;
  LaneMask one = w.active;
  for (uint64_t i = s_.random.below(static_cast<uint64_t>(std::popcount(w.active))); i > 0; --i) one &= one - 1;
  one &= ~one + 1;
  const LaneMask below = w.active & (one - 1);
  const LaneMask choices[] = {w.active & ~one, one, below != 0 ? below : one};
  hold_back(w, choices[s_.random.below(std::size(choices))]);
}

Advance ClusterStepper::next_turn() {
  for (; s_.turn < s_.order.size(); ++s_.turn) {
    Warp& w = *warps_[s_.order[s_.turn]];
    if (w.finished() || !may_wake(w)) continue;
    s_.budget = quantum();
    s_.hurried = policy_ == DriverKind::shuffled && !w.timed_out && s_.random.below(16) == 0;
    w.timed_out = w.timed_out || s_.hurried;
    if (part_lanes_) part_lanes(w);
    s_.turn_start = w.instructions;
    cluster_->now = s_.instructions;
    s_.at = At::turn;
    return Advance::decision;
  }
  s_.at = At::round_over;
  return Advance::decision;
}

Advance ClusterStepper::run_turn(uint64_t grain) {
  Warp& w = *warps_[s_.order[s_.turn]];
  const uint64_t before = w.instructions, asked = std::min(s_.budget, grain);
  uint64_t budget = asked;
  const RunStop stop = run_warp(w, program_, budget);
  s_.budget -= asked - budget;
  switch (stop) {
    case RunStop::budget:
      if (s_.budget == 0) s_.at = At::turn_over;
      break;
    case RunStop::enqueued:
      s_.issue_progress = cluster_->progress;
      s_.at = At::issued;
      if (policy_ == DriverKind::eager) start_settling(At::issued);
      break;
    case RunStop::fault:
      fault_ = fault_of(w);
      s_.instructions += w.instructions - s_.turn_start;
      return Advance::fault;
    case RunStop::finished:
      --w.cta->live_warps;
      cluster_->wake_all();
      s_.at = At::turn_over;
      break;
    default: s_.at = At::turn_over;
  }
  return w.instructions != before ? Advance::instruction : Advance::decision;
}

// Ends the warp's turn if an operation has completed since the issue: warps that wait for it run first. Without this, a
// warp could run whole phases ahead of the others, because copies take no time in this driver.
Advance ClusterStepper::after_issue() {
  const Warp& w = *warps_[s_.order[s_.turn]];
  const bool again = s_.budget > 0 && cluster_->progress == s_.issue_progress;
  if (again) cluster_->now = s_.instructions + (w.instructions - s_.turn_start);
  s_.at = again ? At::turn : At::turn_over;
  return Advance::decision;
}

Advance ClusterStepper::end_turn() {
  Warp& w = *warps_[s_.order[s_.turn]];
  if (s_.hurried) w.timed_out = false;
  s_.hurried = false;
  s_.instructions += w.instructions - s_.turn_start;
  s_.ran = s_.ran || w.instructions != s_.turn_start;
  ++s_.turn;
  s_.at = At::next_turn;
  if (policy_ != DriverKind::shuffled || s_.random.below(4) != 0 || !pick_operation()) return Advance::decision;
  bool completed;
  return operate(s_.op, false, completed);
}

void ClusterStepper::start_settling(At then) {
  s_.op = 0;
  s_.settled = false;
  s_.then = then;
  s_.at = At::settle;
}

// Performs the ready operations in issue order until no operation is ready.
Advance ClusterStepper::settle(uint64_t grain) {
  for (; s_.op < cluster_->pending.size(); ++s_.op) {
    if (!is_ready(*cluster_, cluster_->pending[s_.op])) continue;
    s_.settled = true;
    bool completed;  // a completed operation leaves the queue: s_.op is then the index of the next one
    return operate(s_.op, grain == kWhole, completed);
  }
  if (s_.settled) {
    s_.op = 0;
    s_.settled = false;
  } else {
    s_.at = s_.then;
  }
  return Advance::decision;
}

// Sets s_.op to a ready operation (shuffled: a random one, otherwise the first). Returns false if none is ready.
bool ClusterStepper::pick_operation() {
  const auto& pending = cluster_->pending;
  if (policy_ != DriverKind::shuffled) {
    const auto first = std::find_if(pending.begin(), pending.end(), [&](const AsyncOp& op) { return is_ready(*cluster_, op); });
    s_.op = static_cast<size_t>(first - pending.begin());
    return first != pending.end();
  }
  std::vector<size_t> ready;
  for (size_t i = 0; i < pending.size(); ++i) {
    if (is_ready(*cluster_, pending[i])) ready.push_back(i);
  }
  if (ready.empty()) return false;
  s_.op = ready[s_.random.below(ready.size())];
  return true;
}

Advance ClusterStepper::operate(size_t index, bool whole, bool& completed) {
  const Issuer issuer = cluster_->pending[index].issuer;
  const StepResult r = whole ? run_to_end(*cluster_, index) : step(*cluster_, index);
  completed = r.completed;
  if (!r.error.has_value()) return Advance::moment;
  fault_ = fault_of(*cluster_, issuer, *r.error);
  return Advance::fault;
}

bool ClusterStepper::waits_for_ever() {
  if (!cluster_->pending.empty() || !s_.endless.proven(*cluster_, warps_)) return false;
  fault_ = deadlock_of(*cluster_);
  return true;
}

// Late completion: lazy and shuffled perform an operation here, when every warp is blocked or has had its turn (warps that
// still run may spin on memory).
Advance ClusterStepper::end_round(uint64_t grain) {
  s_.at = At::round;
  if (policy_ != DriverKind::eager && !cluster_->pending.empty() && pick_operation()) {
    bool completed;
    const bool whole = policy_ != DriverKind::shuffled;
    const Advance a = operate(s_.op, whole && grain == kWhole, completed);
    if (whole && !completed && a != Advance::fault) s_.at = At::operation;
    return a;
  }
  if (waits_for_ever()) return Advance::fault;
  // An operation in the middle of the round may have woken a warp after its turn.
  if (s_.ran || cluster_->progress != s_.round_progress) return Advance::decision;
  s_.issue_progress = cluster_->progress;
  s_.at = At::idle;
  if (policy_ == DriverKind::eager && !cluster_->pending.empty()) start_settling(At::idle);
  return Advance::decision;
}

Advance ClusterStepper::idle() {
  s_.at = At::round;
  return cluster_->progress != s_.issue_progress || catch_up() || time_out_waits() ? Advance::decision : Advance::stuck;
}

// Warps wait for phases, and lanes of theirs that are held back may complete them.
bool ClusterStepper::catch_up() {
  bool any = false;
  for (Warp* w : warps_) {
    if (w->held_back == 0) continue;
    w->held_back = 0;
    w->block.reason = BlockReason::none;
    any = true;
  }
  return any;
}

namespace {

bool is_power_of_two(uint64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

// Every warp waits and nothing is in flight. A try_wait may answer false after a while, and a program may do something
// useful then: count its attempts and give up, for example. If the registers are what they were at the time-out before, the next
// one changes nothing either: a deadlock. Registers are compared at times that get rarer.
bool ClusterStepper::time_out_waits() {
  if (s_.idle_progress != cluster_->progress) {
    s_.idle_progress = cluster_->progress;
    s_.idle_rounds = 0;
  }
  ++s_.idle_rounds;
  if (s_.idle_rounds > kMostTimeOuts) return false;
  if (is_power_of_two(s_.idle_rounds + 1)) s_.idle_state = fingerprint(*cluster_);
  if (s_.idle_rounds > 3 && is_power_of_two(s_.idle_rounds) && s_.idle_state == fingerprint(*cluster_)) {
    s_.idle_rounds = kMostTimeOuts;  // the verdict stands until something happens
    return false;
  }
  bool any = false;
  for (uint32_t i : s_.order) {
    Warp& w = *warps_[i];
    if (w.finished() || !w.waits_on_mbarrier) continue;
    w.timed_out = true;
    any = true;
  }
  return any;
}

Advance ClusterStepper::advance(uint64_t grain) {
  switch (s_.at) {
    case At::round: return begin_round();
    case At::next_turn: return next_turn();
    case At::turn: return run_turn(grain);
    case At::issued: return after_issue();
    case At::turn_over: return end_turn();
    case At::settle: return settle(grain);
    case At::operation: {
      bool completed;
      const Advance a = operate(s_.op, grain == kWhole, completed);
      if (completed) s_.at = At::round;
      return a;
    }
    case At::round_over: return end_round(grain);
    case At::idle: return idle();
  }
  return Advance::stuck;
}

bool ClusterStepper::stopped() {
  if (!bounds_.ended()) return false;
  fault_ = with_spins(bounds_.fault(place_of_first(*cluster_)), {cluster_.get()});
  return true;
}

ClusterStop ClusterStepper::run(uint64_t slice, const std::function<Advance(ClusterStepper&)>& step) {
  const uint64_t end = s_.instructions + slice;
  begin_slice();
  while (true) {
    switch (step(*this)) {
      case Advance::finished: return ClusterStop::finished;
      case Advance::stuck: return ClusterStop::stuck;
      case Advance::fault: return ClusterStop::fault;
      default:
        if (stopped()) return ClusterStop::fault;
        if (at_round() && (s_.instructions >= end || gives_way())) return ClusterStop::slice;
    }
  }
}

}  // namespace drywell::sim
