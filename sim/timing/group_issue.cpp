// Issuing: one warp instruction executes at its cycle, and its unit says when its results are there.
#include <algorithm>
#include <bit>

#include "sim/schedule/functional.h"
#include "sim/schedule/warp_runner.h"
#include "sim/exec/exec.h"
#include "sim/events/hub.h"
#include "sim/timing/group.h"
#include "sim/timing/umma_cost.h"

namespace drywell::sim {

void Group::announce_stall(const WarpIssueState& w, Stall reason, Time until) const {
  if (reason != Stall::issued && reason != Stall::finished) w.warp->cta->cluster->launch->observers->stalled(*w.warp, reason, w.mark, until);
}

// The cycles since the warp's last issue, each with its reason.
void Group::charge_issue(WarpIssueState& w, const OpInfo& x, Time t) {
  const Time before = w.mark;
  charge(w, w.hold_reason, std::min(w.hold, t));
  charge(w, w.wait_reason, std::min(w.ready, t));
  charge(w, Stall::pipe_busy, std::min(w.admitted, t));
  charge(w, Stall::not_selected, t);
  charge(w, Stall::issued, t + 1);
  Account::Line& line = account_.lines[x.line];
  ++line.instructions;
  line.cycles += w.mark - before;
}

void Group::set_writes(WarpIssueState& w, const OpInfo& x, Time ready, Stall why) {
  for (const uint32_t s : timed_.operands(x).writes) w.registers.set(s, ready, why);
}

// A folded instruction executes with the one before it; its results are there when its operands are. False:
// it has to wait.
bool Group::run_folded(WarpIssueState& w, const OpInfo& x) {
  const RunStop stop = run_one(*w.warp, program_);
  if (stop == RunStop::fault) fail(fault_of(*w.warp), *w.warp->cta->cluster);
  if (stop == RunStop::blocked) return false;
  w.registers.fold(timed_.operands(x));
  return true;
}

// Finds when the warp's next instruction could issue.
void Group::schedule(uint32_t warp) {
  WarpIssueState& w = *warps_[warp];
  Warp& g = *w.warp;
  const OpInfo* x;
  for (;;) {
    pick_lanes(g);
    x = &timed_.ops[g.pc];
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
    set_candidate(w, kNever);
    return;
  }
  w.state = WarpState::ready;
  w.inputs = r.inputs;
  w.admitted = r.ready;
  w.wait_reason = r.why;
  set_candidate(w, r.ready);
}

// ptxas gives additions to the FMA pipe when the ALU has enough to do.
Server& Group::pipe_for(Partition& p, const OpInfo& x) {
  Server& own = p.pipes[static_cast<size_t>(x.pipe)];
  if (!x.either_pipe) return own;
  Server& fma = p.pipes[static_cast<size_t>(Pipe::fma)];
  return fma.free_at() < own.free_at() ? fma : own;
}

// Earliest cycle from `t` on at which the instruction's unit takes it.
Time Group::admits(const WarpIssueState& w, const OpInfo& x, Time t) {
  Partition& p = *w.unit;
  const auto queued = [&](const Server& s, double ahead) {
    const double free = s.free_at() - ahead;
    return free > static_cast<double>(t) ? ceil_time(free) : t;
  };
  switch (x.kind) {
    case OpKind::local:
    case OpKind::branch:
      return x.pipe == Pipe::none || is_shared(x.pipe) ? t : queued(pipe_for(p, x), x.queue * static_cast<double>(x.interval));
    case OpKind::memory:
    case OpKind::lsu:
      if (x.store && store_gate > t && x.space != Space::shared_cta) t = store_gate;
      return std::max(queued(p.lsu, static_cast<double>(arch_.sm.lsu_queue) * arch_.smem.lone_warp_interval),
                      std::max(queued(sms_[w.sm].lsu, static_cast<double>(arch_.sm.lsu_queue_shared)),
                               queued(sms_[w.sm].dsmem, static_cast<double>(arch_.sm.lsu_queue_shared) *
                                                            arch_.cost(isa::TimingClass::dsmem).interval)));
    case OpKind::async:
      if (x.timing == isa::TimingClass::umma || x.timing == isa::TimingClass::tmem_cp) {
        const double free = p.mma_slots[p.mma_next];
        return free > static_cast<double>(t) ? ceil_time(free) : t;
      }
      // The copy engine takes a copy when it has started the one before.
      return x.pipe == Pipe::tma ? queued(sms_[w.sm].tma_issue, 0) : t;
    default: return t;
  }
}

void Group::issue_next(Partition& p) {
  const Time t = p.candidate;
  const uint32_t id = p.warps[p.pick];
  WarpIssueState& w = *warps_[id];
  const Time admitted = admits(w, timed_.ops[w.warp->pc], t);
  if (admitted > t) {
    w.admitted = admitted;
    p.at[p.pick] = admitted;
    select(p);
    return;
  }
  if (timed_.ops[w.warp->pc].kind > OpKind::exit) p.last_shared = t + 1;
  p.next_issue = t + 1;
  p.last[p.pick] = t;
  ++p.issued;
  execute(id, t, false);
}

void Group::gather_addresses(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t bytes) {
  addresses_.mask = mask;
  addresses_.bytes = bytes;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    addresses_.at[lane] = lane_address(w, op, lane);
  }
}

// `resumed`: the instruction blocked before and what it waited for has happened; it does not issue again.
void Group::execute(uint32_t warp, Time t, bool resumed) {
  WarpIssueState& w = *warps_[warp];
  Warp& g = *w.warp;
  Cluster& c = *g.cta->cluster;
  const uint32_t pc = g.pc;
  const OpInfo& x = timed_.ops[pc];
  const DecodedOp& op = program_.code[pc];
  if (resumed) {
    const Time before = w.mark;
    charge(w, w.hold_reason, std::min(w.hold, t));
    charge(w, w.wait_reason, t);
    account_.lines[x.line].cycles += w.mark - before;
  } else {
    charge_issue(w, x, t);
  }
  const LaneMask mask = g.active & read_pred(g, op.guard);
  if (x.addressed && mask != 0) gather_addresses(g, op, mask, x.bytes);
  if (x.kind == OpKind::barrier && !resumed) {
    Server& unit = sm_of(w).barrier;
    barrier_arrival_ = unit.begin(static_cast<double>(t), x.interval) + static_cast<double>(x.interval);
  }
  c.now = t;
  const uint64_t first_new = c.next_op;
  const RunStop stop = run_one(g, program_);
  if (stop == RunStop::fault) {
    fail(fault_of(g), c);
    return;
  }
  last_activity_ = t;
  const uint32_t resident = w.resident;
  if (stop == RunStop::blocked) {
    block(warp, t + 1);
  } else if (stop == RunStop::finished) {
    end_warp(w, t + 1);
    if (residents_[resident].cluster == nullptr) return;
  } else {
    complete(warp, x, pc, mask == 0 && !op.needs_all ? 0 : mask, t, resumed);
  }
  if (x.kind == OpKind::local) return;
  if (c.next_op != first_new) {
    const size_t fresh = c.next_op - first_new;
    for (size_t i = c.pending.size() - fresh; i < c.pending.size(); ++i) dispatch(resident, i, t + fence_before(x));
  }
  WakeTimes at = thread_wake(t + fence_before(x));
  if (x.kind == OpKind::barrier) at.barrier = ceil_time(barrier_arrival_ + arch_.barrier.cta_base);
  wake_changed(residents_[resident], at);
  if (op.sync == isa::SyncRole::tmem_dealloc) wake_allocators(at.other);
}

// ptxas moves arithmetic up within its basic block, to where the operands are there; the loop's counter and its comparison
// do not hold up the branch.
Time Group::hoisted(const WarpIssueState& w, const OpInfo& x, Time ready) const {
  if (x.timing == isa::TimingClass::clock) return ready;
  return std::min(ready, std::max(w.inputs, w.block_start) + x.latency);
}

void Group::complete(uint32_t warp, const OpInfo& x, uint32_t pc, LaneMask mask, Time t, bool resumed) {
  WarpIssueState& w = *warps_[warp];
  w.hold = resumed ? t : t + 1;
  w.hold_reason = Stall::issue_cost;
  if (mask != 0 || x.kind == OpKind::exit) {
    switch (x.kind) {
      case OpKind::local: {
        double start = static_cast<double>(t);
        if (x.pipe != Pipe::none && !is_shared(x.pipe)) start = pipe_for(*w.unit, x).begin(start, x.interval);
        if (x.sequence) {
          // A sequence of dependent instructions stands where it is; the warp issues it and little else.
          const Time end = ceil_time(start) + x.latency;
          set_writes(w, x, end, Stall::register_dependency);
          w.hold = end;
          w.hold_reason = Stall::register_dependency;
          break;
        }
        if (x.timing == isa::TimingClass::ld_param) {
          SmUnits& sm = sm_of(w);
          if (sm.params_there == kNever) sm.params_there = t + static_cast<Time>(figures_.launch.first_param);
          if (sm.params_there > t) {
            set_writes(w, x, sm.params_there, Stall::memory);
            break;
          }
        }
        set_writes(w, x, hoisted(w, x, ceil_time(start) + x.latency), Stall::register_dependency);
        break;
      }
      case OpKind::branch:
        if (x.pipe == Pipe::control)
          w.unit->pipes[static_cast<size_t>(x.pipe)].begin(static_cast<double>(t), x.interval);
        if (w.warp->pc != pc + 1) {
          w.hold = t + x.latency;
          w.hold_reason = Stall::branch;
          w.block_start = w.hold;
        }
        break;
      case OpKind::memory: complete_memory(w, warp, x, t); break;
      case OpKind::lsu:
        set_writes(w, x, ceil_time(lsu_begin(w, t, static_cast<double>(x.interval), true)) + x.latency,
                   Stall::memory);
        break;
      case OpKind::hold: complete_hold(w, x, pc, mask, t, resumed); break;
      case OpKind::wait: complete_wait(w, x, mask, t, resumed); break;
      case OpKind::barrier: complete_barrier(w, x, t, resumed); break;
      case OpKind::async: {
        // The latency of a TMEM access is the port's; of the others it is the issuing warp's. A warp that
        // issues operations of several lanes pays for each; wgmma is one of all lanes.
        const bool port = x.timing == isa::TimingClass::tmem_ld || x.timing == isa::TimingClass::tmem_st;
        const int operations = x.timing == isa::TimingClass::wgmma ? 1 : std::popcount(mask);
        double cost = port ? x.interval : operations * std::max<double>(x.latency, x.pipe == Pipe::tensor ? x.interval : 0);
        if (x.timing == isa::TimingClass::tmem_cp) {
          const auto* copy = std::get_if<TmemCopy>(&w.warp->cta->cluster->pending.back().payload);
          if (copy != nullptr) cost = std::max(cost, operations * tmem_copy_issue(arch_, *copy));
        }
        w.hold = t + std::max<Time>(1, ceil_time(cost));
        break;
      }
      case OpKind::folded:
      case OpKind::exit: break;
    }
  }
  schedule(warp);
}

double Group::lsu_begin(WarpIssueState& w, Time t, double wavefronts, bool smem) {
  return lsu_begin(w, t, wavefronts, smem, smem ? arch_.smem.lone_warp_interval : 1.0);
}

double Group::lsu_begin(WarpIssueState& w, Time t, double wavefronts, bool smem, double lone_interval) {
  SmUnits& sm = sm_of(w);
  sm.lsu_wavefronts += wavefronts;
  double start = w.unit->lsu.begin(static_cast<double>(t), wavefronts * lone_interval);
  start = sm.lsu.begin(start, wavefronts);
  if (!smem) return start;
  const double served = sm.smem.begin(start, wavefronts);
  sm.lsu.hold(served + wavefronts);
  return served;
}

// An arrival that releases to the cluster stands behind a fence of that scope.
Time Group::fence_before(const OpInfo& x) const { return x.fenced ? static_cast<Time>(arch_.cost(isa::TimingClass::fence_gpu).latency) : 0; }

void Group::complete_hold(WarpIssueState& w, const OpInfo& x, uint32_t pc, LaneMask mask, Time t, bool resumed) {
  const auto lanes = static_cast<double>(std::popcount(mask));
  if (x.timing == isa::TimingClass::mbarrier_op)
    lsu_begin(w, t, lanes * static_cast<double>(x.interval), true);
  if (!resumed) w.hold = t + std::max<Time>(1, x.latency) + fence_before(x);
  if (x.timing == isa::TimingClass::bar_cluster) {
    Resident& r = residents_[w.resident];
    if (r.cluster->cluster_generation != r.cluster_generation) {
      r.cluster_generation = r.cluster->cluster_generation;
      r.cluster_release =
          t + static_cast<Time>(x.relaxed ? arch_.barrier.cluster_relaxed : arch_.barrier.cluster_acquire);
    }
    if (!x.arrives && !resumed) {
      // The wait found everyone there, but perhaps only just.
      w.hold = std::max(w.hold, r.cluster_release);
      w.hold_reason = Stall::cluster_barrier;
    }
  }
  if (x.timing == isa::TimingClass::nanosleep) {
    const uint64_t ns =
        lane_value(*w.warp, program_.code[pc].src[0], static_cast<uint32_t>(std::countr_zero(mask)), false);
    w.hold = std::max(w.hold, t + ceil_time(arch_.cycles_from_ns(static_cast<double>(ns))));
  }
  if (x.timing == isa::TimingClass::nanosleep || x.timing == isa::TimingClass::setmaxnreg ||
      x.timing == isa::TimingClass::griddep) {
    w.hold_reason = Stall::sleep;
  }
  set_writes(w, x, w.hold, Stall::issue_cost);
}

void Group::complete_wait(WarpIssueState& w, const OpInfo& x, LaneMask mask, Time t, bool resumed) {
  Time ready = t;
  if (!resumed) {
    lsu_begin(w, t, 1, true);
    ready = t + x.latency;
    const Resident& r = residents_[w.resident];
    const auto address = static_cast<uint32_t>(addresses_.at[static_cast<size_t>(std::countr_zero(mask))]);
    for (const Resident::Flip& f : r.flips) {
      if (f.visible > t && shared_offset(f.mbar) == shared_offset(address))
        ready = std::max(ready, f.visible + static_cast<Time>(arch_.mbarrier.wake));
    }
  }
  // The figures are of a wait and the branch on its result: the guard's extra cycles are in them.
  set_writes(w, x, ready > timed_.guard_extra ? ready - timed_.guard_extra : 0, Stall::mbarrier);
}

void Group::complete_barrier(WarpIssueState& w, const OpInfo& x, Time t, bool resumed) {
  if (resumed) return;
  const Time release = ceil_time(barrier_arrival_ + arch_.barrier.cta_base);
  if (x.arrives) {
    w.hold = t + x.latency;
    return;
  }
  w.hold = std::max(w.hold, release);
  w.hold_reason = Stall::named_barrier;
  set_writes(w, x, release, Stall::named_barrier);
}

void Group::complete_memory(WarpIssueState& w, uint32_t warp, const OpInfo& x, Time t) {
  SmUnits& sm = sm_of(w);
  const LaneAddresses& a = addresses_;
  const auto first = static_cast<size_t>(std::countr_zero(a.mask));
  Space space = x.space;
  if (space == Space::generic) {
    const uint64_t high = a.at[first] >> 32;
    space = high == window::kSharedHigh  ? Space::shared_cluster
            : high == window::kLocalHigh ? Space::local
            : high == window::kParamHigh ? Space::param
                                         : Space::global;
  }
  double data = std::max(1.0, static_cast<double>(std::popcount(a.mask)) * a.bytes / 128);
  const auto from = static_cast<double>(t);
  switch (space) {
    case Space::shared_cluster:
      if (shared_rank(static_cast<uint32_t>(a.at[first])) != w.warp->cta->rank) {
        const ClassCost& c = arch_.cost(isa::TimingClass::dsmem);
        const double rate = x.store ? arch_.dsmem.store_bytes_per_clk : arch_.dsmem.load_bytes_per_clk;
        const double start = sm.dsmem.begin(lsu_begin(w, t, data, false), 128 * data / rate);
        set_writes(w, x, ceil_time(start + c.latency), Stall::memory);
        return;
      }
      [[fallthrough]];
    case Space::shared_cta: {
      const double wavefronts = smem_wavefronts(a) * (x.atomic ? static_cast<double>(x.interval) : 1.0);
      // Stores use the write side: continuous tensor reads cost them a little, loads wait for the read side.
      const bool slowed = x.store && sm.smem.tensor_active(from);
      const double start =
          lsu_begin(w, t, slowed ? wavefronts / arch_.smem.store_rate_under_mma : wavefronts, !x.store,
                    x.store ? figures_.smem.lone_store_interval : arch_.smem.lone_warp_interval);
      const double latency = x.atomic ? arch_.cost(isa::TimingClass::atom_shared).latency
                             : x.space == Space::shared_cluster ? static_cast<double>(arch_.dsmem.self_latency)
                                                                : arch_.cost(isa::TimingClass::ld_shared).latency;
      set_writes(w, x, ceil_time(start + latency + (wavefronts - 1) * arch_.smem.conflict_cycles),
                 Stall::memory);
      return;
    }
    case Space::local:
    case Space::param:
      set_writes(w, x, ceil_time(lsu_begin(w, t, data, false)) + x.latency, Stall::memory);
      return;
    default: break;
  }
  const auto begin = static_cast<uint32_t>(runs.size());
  const uint32_t lines = gmem_sectors(a, runs);
  const auto count = static_cast<uint32_t>(runs.size()) - begin;
  double distinct = 0;  // lanes that read the same bytes share them
  for (uint32_t i = begin; i < begin + count; ++i) distinct += runs[i].bytes;
  data = std::max(1.0, std::min(data, distinct / 128));
  // The L1's data lie in banks as shared memory's do: lines apart by a multiple of 128 bytes go one by one (ldg.lines-* of
  // docs/calibration.md). Four tags a cycle.
  const double wide = a.bytes > 4 ? static_cast<double>(arch_.smem.bytes_per_clk) / arch_.l1.bytes_per_clk : 1;
  const double wavefronts = std::max(smem_wavefronts(a) * wide, lines / 4.0) * (x.store ? figures_.l1.store_slowdown : 1);
  const double start = lsu_begin(w, t, wavefronts, false);
  if (x.cached) {
    bool hit = true;
    for (uint32_t i = begin; i < begin + count && hit; ++i)
      hit = sm.l1.contains(runs[i].address, runs[i].bytes);
    if (hit) {
      runs.resize(begin);
      set_writes(w, x, ceil_time(start + arch_.cost(isa::TimingClass::ld_global).latency + data - 1),
                 Stall::memory);
      return;
    }
  }
  MemoryRequest r;
  r.time = start;
  r.kind = x.store ? MemoryKind::store : x.atomic ? MemoryKind::atomic : MemoryKind::load;
  r.first = begin;
  r.count = count;
  r.token = ~0u;
  if (x.writes != 0) {
    PendingLoad p;
    p.warp = warp;
    p.load = w.registers.begin_load();
    p.sm = w.sm;
    p.resident = w.resident;
    p.fill_l1 = x.cached;
    p.serial = w.warp->cta->serial;
    if (x.cached) p.runs.assign(runs.begin() + begin, runs.end());
    for (const uint32_t s : timed_.operands(x).writes) w.registers.set_load(s, p.load);
    r.token = add_pending(std::move(p));
  }
  requests.push_back(r);
}

// The answer to a load is back at the SM.
void Group::load_data(uint32_t pending, Time t) {
  PendingLoad p = std::move(pending_[pending]);
  free_pending_.push_back(pending);
  if (p.fill_l1) {
    for (const ByteRange& r : p.runs) sms_[p.sm].l1.fill(r.address, r.bytes);
  }
  WarpIssueState& w = *warps_[p.warp];
  // The warp may have exited, and another one may have its place.
  if (w.state == WarpState::none || w.state == WarpState::finished || w.resident != p.resident ||
      w.warp->cta->serial != p.serial)
    return;
  w.registers.answer(p.load, t);
  if (w.state == WarpState::load && w.load == p.load) {
    charge(w, w.hold_reason, std::min(w.hold, t));
    charge(w, Stall::memory, t);
    w.hold = std::max(w.hold, t);
    schedule(p.warp);
  }
}

}  // namespace drywell::sim
