#include "sim/timing/instruction_timing.h"

#include <algorithm>
#include <bit>

#include "sim/exec/exec.h"
#include "sim/timing/umma_cost.h"

namespace drywell::sim {

using isa::TimingClass;

void InstructionTiming::complete(WarpIssueState& w, uint32_t id, WakeList& waits, const Executed& e) {
  hold_until(w, e.resumed ? e.at : e.at + e.op.slots, Stall::issue_cost);
  if (e.mask == 0) {
    if (e.op.kind == OpKind::memory) memory_.without_lanes(w, e.op, e.at);
    meet(w, e);
    return;
  }
  switch (e.op.kind) {
    case OpKind::local: local(w, e); break;
    case OpKind::branch: branch(w, e); break;
    case OpKind::memory: memory_.execute(w, id, e.op, e.addresses, e.at); break;
    case OpKind::lsu: exchange(w, e); break;
    case OpKind::hold: hold(w, waits, e); break;
    case OpKind::wait: wait(w, e); break;
    case OpKind::barrier: barrier(w, e); break;
    case OpKind::async: async(w, e); break;
    case OpKind::folded:
    case OpKind::exit: break;
  }
  meet(w, e);
}

// Lanes that come to a meeting place without a jump wait for the results of the block that they leave, and there (one_*, two_* and deep_* of
// apart.toml, traces/hw/h200-2026-11-28-apart.csv: 11 to 16 cycles from the last logic operation on).
void InstructionTiming::meet(WarpIssueState& w, const Executed& e) const {
  constexpr Time kMeet = 13;
  const uint32_t next = w.warp->pc;
  if (next == e.pc + 1 && context_.program->ops[next].meets) hold_until(w, std::max(w.hold, e.at + kMeet), Stall::branch);
  if (e.op.parts) w.block_start = w.hold;
}

void InstructionTiming::hold_until(WarpIssueState& w, Time t, Stall why) const {
  w.hold = t;
  w.hold_reason = why;
}

// The groups of match.any: each lane's result names the lanes of its group.
double InstructionTiming::groups(const WarpIssueState& w, const Executed& e) const {
  const Src result{context_.launch->program->code[e.pc].dst, 0};
  uint32_t first = 0;
  for (LaneMask m = e.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    first += static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(lane_value(*w.warp, result, lane, false)))) == lane ? 1 : 0;
  }
  return std::max(1u, first);
}

// The figures of match.any are for 32 different values, which come one after another; an exchange with one value takes what match.all takes
// (k_match and k_matchall of traces/hw/h200-2026-11-22-scalar-launch-atomics.csv).
void InstructionTiming::exchange(WarpIssueState& w, const Executed& e) {
  constexpr double kOneValue = 34;
  const bool each = e.op.timing == TimingClass::match_any;
  const double share = each ? groups(w, e) / kWarpSize : 1;
  const double latency = each ? kOneValue + (e.op.latency - kOneValue) * (share - 1.0 / kWarpSize) / (1 - 1.0 / kWarpSize) : e.op.latency;
  set(w, e.op, ceil_time(pipes_.begin_smem(sms_[w.sm], *w.unit, e.at, static_cast<double>(e.op.interval) * share) + latency), Stall::memory);
}

// ptxas moves arithmetic up within its basic block, to where the operands are ready, but not far: the loop's counter and its comparison do
// not delay the branch, and two iterations of an unrolled loop overlap, not four (bodies of tests/corpus/timing). Sums, products and
// approximations move less than counters (exps-* of traces/hw/h200-2026-11-26-launch-mechanisms.csv, chains.exp.* of drywell bench-hw).
Time InstructionTiming::hoisted(const WarpIssueState& w, const OpInfo& x, Time ready) const {
  constexpr Time kCounters = 20, kOthers = 6;
  const Time furthest = std::min(ready, x.pipe == Pipe::alu ? kCounters : kOthers);
  return x.timing == TimingClass::clock ? ready : std::min(ready, std::max(std::max(w.inputs, w.block_start) + x.latency, ready - furthest));
}

// An SM's first parameter of a launch comes from memory.
Time InstructionTiming::parameters_there(SmUnits& sm, Time t) const {
  if (sm.params_there == kNever) sm.params_there = t + static_cast<Time>(context_.arch->launch.first_param);
  return sm.params_there;
}

void InstructionTiming::local(WarpIssueState& w, const Executed& e) {
  const Time end = ceil_time(pipes_.begin(*w.unit, e.op, e.at)) + e.op.latency;
  if (e.op.sequence) {
    // A sequence of dependent instructions stays in its place; the warp issues little else meanwhile.
    set(w, e.op, end, Stall::register_dependency);
    hold_until(w, end, Stall::register_dependency);
  } else if (e.op.timing == TimingClass::ld_param && parameters_there(sms_[w.sm], e.at) > e.at) {
    set(w, e.op, sms_[w.sm].params_there, Stall::memory);
  } else {
    set(w, e.op, hoisted(w, e.op, end), Stall::register_dependency);
    if (e.op.timing == TimingClass::mma_sync) w.settled = end - 1;
  }
}

// When lanes part, the warp goes back once for those that wait: 17 cycles after one side, 20 after two (one_* and two_* of apart.toml,
// traces/hw/h200-2026-11-28-apart.csv).
constexpr Time kApart = 15;

// The warp leaves a block when the results of its matrix products are there: their latency is fixed, and ptxas counts it within a block only
// (moving_* of traces/hw/h200-2026-11-28-emulated.csv; NOP and BRA after the last HMMA stall for 24 cycles).
void InstructionTiming::branch(WarpIssueState& w, const Executed& e) {
  if (e.op.pipe == Pipe::control) w.unit->pipes[static_cast<size_t>(e.op.pipe)].begin(static_cast<double>(e.at), e.op.interval);
  const bool taken = w.warp->pc != e.pc + 1;
  const Time apart = e.op.parts && e.mask != e.active ? kApart : 0;
  if (!taken && apart == 0 && w.settled <= e.at) return;
  hold_until(w, std::max(taken ? e.at + e.op.latency : w.hold, w.settled) + apart, Stall::branch);
  if (taken) w.block_start = w.hold;
}

// The latency of a TMEM access is the port's; that of the others is the issuing warp's. A warp pays for each operation that it issues: one
// for the lanes together (wgmma, cp.async, a tensor store), or one a lane (docs/facts/timing.md §6, §8).
void InstructionTiming::async(WarpIssueState& w, const Executed& e) {
  const OpInfo& x = e.op;
  const bool port = x.timing == TimingClass::tmem_ld || x.timing == TimingClass::tmem_st;
  const auto operations = static_cast<double>(std::max<uint64_t>(1, e.operations));
  double cost = port ? x.interval : operations * std::max<double>(x.latency, x.pipe == Pipe::tensor ? x.interval : 0);
  if (x.timing == TimingClass::tmem_cp) {
    const auto* copy = std::get_if<TmemCopy>(&w.warp->cta->cluster->pending.back().payload);
    if (copy != nullptr) cost = std::max(cost, operations * tmem_copy_issue(arch_, *copy));
  }
  w.hold = e.at + std::max<Time>(1, ceil_time(cost));
}

// At the wait, all warps may have arrived already, but the last one only just before.
void InstructionTiming::cluster_barrier(WarpIssueState& w, WakeList& waits, const Executed& e) {
  const auto after = static_cast<Time>(e.op.relaxed ? arch_.barrier.cluster_relaxed : arch_.barrier.cluster_acquire);
  const Time release = waits.cluster_barrier(w.warp->cta->cluster->cluster_generation, e.at + after);
  if (!e.op.arrives && !e.resumed) hold_until(w, std::max(w.hold, release), Stall::cluster_barrier);
}

void InstructionTiming::sleep(WarpIssueState& w, const Executed& e) {
  if (e.op.timing == TimingClass::nanosleep) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(e.mask));
    const uint64_t ns = lane_value(*w.warp, context_.launch->program->code[e.pc].src[0], lane, false);
    w.hold = std::max(w.hold, e.at + ceil_time(arch_.cycles_from_ns(static_cast<double>(ns))));
  }
  w.hold_reason = Stall::sleep;
}

void InstructionTiming::hold(WarpIssueState& w, WakeList& waits, const Executed& e) {
  const OpInfo& x = e.op;
  if (x.timing == TimingClass::mbarrier_op)
    pipes_.begin_smem(sms_[w.sm], *w.unit, e.at, static_cast<double>(std::popcount(e.mask)) * static_cast<double>(x.interval));
  if (!e.resumed) w.hold = e.at + std::max<Time>(1, x.latency) + fence_before(x);
  switch (x.timing) {
    case TimingClass::bar_cluster: cluster_barrier(w, waits, e); break;
    case TimingClass::nanosleep:
    case TimingClass::setmaxnreg:
    case TimingClass::griddep: sleep(w, e); break;
    default: break;
  }
  set(w, x, w.hold, Stall::issue_cost);
  if (x.timing == TimingClass::fence_cta || x.timing == TimingClass::fence_gpu) w.block_start = w.hold;
}

// The figures are for a wait and the branch on its result, so they include the guard's extra cycles.
void InstructionTiming::wait(WarpIssueState& w, const Executed& e) {
  Time ready = e.at;
  if (!e.resumed) {
    pipes_.begin_smem(sms_[w.sm], *w.unit, e.at, 1);
    ready += e.op.latency;
  }
  const Time extra = context_.program->guard_extra;
  set(w, e.op, ready > extra ? ready - extra : 0, Stall::mbarrier);
}

void InstructionTiming::barrier(WarpIssueState& w, const Executed& e) {
  if (e.resumed) return;
  if (e.op.arrives) {
    w.hold = e.at + e.op.latency;
    return;
  }
  const Time go_on = release(e.barrier_arrival);
  hold_until(w, std::max(w.hold, go_on), Stall::named_barrier);
  set(w, e.op, go_on, Stall::named_barrier);
}

}  // namespace drywell::sim
