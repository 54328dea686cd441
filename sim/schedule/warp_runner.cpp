#include "sim/schedule/warp_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/events/hub.h"
#include "sim/exec/exec.h"

namespace drywell::sim {
namespace {

// A diverged warp runs the group with the lowest pc, so that groups meet where the code joins. After every kSpin backward
// branches a group moves back in the order: lanes that spin on a lock of other lanes of their warp cannot starve those
// lanes (forward progress, PTX ISA 3.1 independent thread scheduling). Lanes that part and meet inside of the loop have spun all the same: the count
// begins anew only where all lanes of the warp have met.
constexpr uint32_t kSpin = 64;

// True if the lanes arrived at a bar.warp.sync whose instance is incomplete.
bool waits_at_warp_barrier(const Warp& w, LaneMask lanes) {
  return std::any_of(w.warp_syncs.begin(), w.warp_syncs.end(), [&](const WarpSync& s) { return (lanes & ~s.arrived) == 0; });
}

// True if the group's next instruction waits for other lanes of the warp: it needs all of them, or is a barrier.
bool waits_for_lanes(const Warp& w, LaneMask lanes, uint32_t pc) {
  if (lanes == w.alive) return false;
  const DecodedOp& op = w.cta->cluster->launch->program->code[pc];
  if (op.aligned) return true;
  const isa::SyncRole role = isa::spec(op.opcode).sync;
  if (role == isa::SyncRole::warp_barrier) return waits_at_warp_barrier(w, lanes);
  return role == isa::SyncRole::cta_barrier || role == isa::SyncRole::cta_barrier_arrive;
}

bool held_back(const Warp& w, LaneMask lanes) { return (w.held_back & lanes) != 0; }

// Groups that wait for the warp's other lanes go last, however often those branch backward: the others have to run first. Before
// them go the lanes that are held back. Deeper calls go before others: their lanes return to the place where the other lanes wait.
uint64_t priority(const Warp& w, const LaneGroup& g) {
  const uint32_t depth = std::min(w.frames[g.frame].depth, 255u), spins = std::min(g.backward / kSpin, (1u << 22) - 1);
  return (uint64_t{waits_for_lanes(w, g.lanes, g.pc)} << 63) | (uint64_t{held_back(w, g.lanes)} << 62) | (uint64_t{spins} << 40) | (uint64_t{255 - depth} << 32) | g.pc;
}

void switch_to(Warp& w, size_t index) {
  std::swap(w.waiting[index].pc, w.pc);
  std::swap(w.waiting[index].lanes, w.active);
  std::swap(w.waiting[index].backward, w.backward);
  if (w.waiting[index].frame != w.frame) {
    const uint32_t frame = w.waiting[index].frame;
    w.waiting[index].frame = w.frame;
    w.enter_frame(frame);
  }
}

// Merges groups with the same pc and frame and picks the group to run.
void reconverge(Warp& w) {
  for (size_t i = 0; i < w.waiting.size();) {
    const LaneGroup& g = w.waiting[i];
    if (g.pc == w.pc && g.frame == w.frame && held_back(w, g.lanes) == held_back(w, w.active)) {
      w.active |= g.lanes;
      w.backward = std::max(w.backward, g.backward);
      w.waiting.erase(w.waiting.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (w.waiting.empty()) w.backward = 0;
  size_t best = w.waiting.size();
  uint64_t least = priority(w, {w.pc, w.active, w.frame, w.backward});
  for (size_t i = 0; i < w.waiting.size(); ++i) {
    const uint64_t p = priority(w, w.waiting[i]);
    if (p < least) {
      least = p;
      best = i;
    }
  }
  if (best != w.waiting.size()) switch_to(w, best);
}

// True if an instruction neither parts the lanes nor changes who waits for whom.
bool runs_straight(const DecodedOp& op) { return op.flow == isa::Flow::next && op.sync == isa::SyncRole::none && !op.aligned; }

// Until this place a group that runs straight on meets no other, and stays the one to run.
uint32_t next_meeting(const Warp& w) {
  uint32_t next = ~0u;
  for (const LaneGroup& g : w.waiting) {
    if (g.pc > w.pc) next = std::min(next, g.pc);
  }
  return next;
}

// The running group has exited: switches to another group. Returns false if none is left.
bool take_waiting(Warp& w) {
  if (w.waiting.empty()) return false;
  switch_to(w, w.waiting.size() - 1);
  w.waiting.erase(std::remove_if(w.waiting.begin(), w.waiting.end(), [](const LaneGroup& g) { return g.lanes == 0; }), w.waiting.end());
  return true;
}

// wgmma instructions of one warp execute in order: registers of a wgmma in flight do not block the next one (PTX ISA 9.7.15.3).
bool touches_pending(const Warp& w, const Program& p, uint32_t pc) {
  if (w.pending_ld == 0 && isa::spec(p.code[pc].opcode).completion == isa::Completion::wgmma_group) return false;
  const Program::RegUse& use = p.reg_use[pc];
  for (uint32_t i = 0; i < uint32_t{use.reads} + use.writes; ++i) {
    if (is_pending(w, p.reg_lists[use.first + i])) return true;
  }
  return false;
}

void announce_issued(const Cluster& c, size_t count, ObserverHub& observers) {
  for (size_t i = c.pending.size() - count; i < c.pending.size(); ++i) observers.async(c, c.pending[i], AsyncMoment::issue);
}

// Without divergence, observers and results in flight.
bool is_quiet(const Warp& w) { return w.waiting.empty() && (w.pending_ld | w.pending_wgmma) == 0 && w.cta->cluster->launch->observers == nullptr; }

// Most instructions come here, one after the other: with the loop's tests alone. Returns false if the last one faulted.
bool run_plain(Warp& w, const DecodedOp* code, uint64_t& budget) {
  const DecodedOp* op = code + w.pc;
  const uint64_t before = budget;
  Effect effect = Effect::next;
  for (; budget > 0 && op->plain; ++op) {
    const LaneMask mask = w.active & read_pred(w, op->guard);
    if (mask != 0) effect = op->fn(w, *op, mask);
    --budget;
    if (effect != Effect::next) break;
    ++w.pc;
  }
  w.instructions += before - budget;
  return effect == Effect::next;
}

}  // namespace

void start_warp(Warp& w, Cta& cta, uint32_t index, const Program& program, LaneMask alive) {
  w.cta = &cta;
  w.index = index;
  const FunctionCode& kernel = program.kernel();
  w.register_file = StateVector<uint8_t>(kernel.frame_bytes, 0xFF, cta.cluster->launch->memory);
  w.predicate_file.assign(kernel.pred_count, 0);
  w.predicate_file[0] = kFullMask;
  w.frames = {CallFrame{0, 0, 0, kernel.local_bytes, 0, 0, 0}};
  w.enter_frame(0);
  w.cta = &cta;
  write_frame_addresses(w, 0, kernel);
  w.bank[1] = const_cast<uint8_t*>(program.constants.data());
  w.alive = w.active = alive;
}

void hold_back(Warp& w, LaneMask lanes) {
  w.waiting.push_back({w.pc, lanes, w.frame, 0});
  w.active &= ~lanes;
  w.held_back = lanes;
}

void pick_lanes(Warp& w) {
  if (!w.waiting.empty()) reconverge(w);
}

RunStop run_warp(Warp& w, const Program& program, uint64_t& budget) {
  const DecodedOp* code = program.code.data();
  Cluster& cluster = *w.cta->cluster;
  ObserverHub* const observers = cluster.launch->observers;
  const uint8_t* const wanted = observers != nullptr ? observers->wanted() : nullptr;
  w.block.reason = BlockReason::none;
  w.waits_on_mbarrier = false;
  size_t rotations = 0;   // groups tried in a row without progress
  uint32_t straight = 0;  // until then the running group runs on; 0: not known
  while (budget > 0) {
    if (is_quiet(w)) {
      if (!run_plain(w, code, budget)) return RunStop::fault;
      if (budget == 0) break;
    }
    if (!w.waiting.empty() && rotations == 0 && (w.pc >= straight || !runs_straight(code[w.pc]))) {
      reconverge(w);
      straight = next_meeting(w);
    }
    const uint32_t pc = w.pc;
    const DecodedOp& op = code[pc];
    LaneMask mask = w.active & read_pred(w, op.guard);
    Effect effect = Effect::next;
    if (mask != 0 || op.needs_all) {
      if ((w.pending_ld | w.pending_wgmma) != 0 && touches_pending(w, program, w.pc)) {
        effect = block(w, BlockReason::register_dependency);
      } else if (op.aligned && w.active != w.alive) {
        effect = block(w, BlockReason::warp_sync);
      } else if (op.aligned && mask != 0 && mask != w.alive) {
        effect = fault(w, Code::F3406, fmt::format("lanes {:#010x} execute an .aligned instruction, lanes {:#010x} of their warp do not: its guard must be the same in all", mask, w.alive & ~mask));
      } else {
        const size_t queued = cluster.next_op;
        effect = op.fn(w, op, mask);
        if (effect != Effect::blocked) {
          ++w.instructions;
          --budget;
          if (observers != nullptr && effect != Effect::fault) {
            if (cluster.next_op != queued) announce_issued(cluster, cluster.next_op - queued, *observers);
            if (wanted == nullptr || (wanted[pc] & ObserverHub::kExecuted) != 0) observers->instruction(w, op, mask);
          }
          if (cluster.next_op != queued && effect == Effect::next) {
            w.block.reason = BlockReason::none;  // another group may have been tried first: the warp is not blocked
            ++w.pc;
            return RunStop::enqueued;
          }
        }
      }
    } else {
      ++w.instructions;
      --budget;
      if (wanted != nullptr && (wanted[pc] & ObserverHub::kSkipped) != 0) observers->skipped(w, op);
    }
    switch (effect) {
      case Effect::next:
        ++w.pc;
        rotations = 0;
        if (!runs_straight(op)) straight = 0;
        break;
      case Effect::jumped:
        rotations = 0;
        straight = 0;
        break;
      case Effect::yield:
        w.block.reason = BlockReason::none;
        ++w.pc;
        return RunStop::yielded;
      case Effect::exited:
        if (w.alive == 0) return RunStop::finished;
        if (!take_waiting(w)) return RunStop::finished;
        rotations = 0;
        straight = 0;
        break;
      case Effect::blocked:
        straight = 0;
        if (w.held_back != 0 && w.block.reason == BlockReason::mbarrier) {  // they may sleep for phases
          if (observers != nullptr) observers->blocked(w, op);
          return RunStop::blocked;
        }
        if (w.held_back != 0) {  // the lanes that were held back catch up
          w.held_back = 0;
          w.block.reason = BlockReason::none;
          rotations = 0;
          break;
        }
        // Another group of the warp may be able to run.
        if (rotations < w.waiting.size()) {
          switch_to(w, rotations);
          ++rotations;
          break;
        }
        if (observers != nullptr) observers->blocked(w, op);
        return RunStop::blocked;
      case Effect::fault: return RunStop::fault;
    }
  }
  w.block.reason = BlockReason::none;
  return RunStop::budget;
}

// In a quiet warp run_warp reduces to the instruction itself.
RunStop run_one(Warp& w, const Program& program) {
  const DecodedOp& op = program.code[w.pc];
  uint64_t budget = 1;
  if (!is_quiet(w) || op.aligned) return run_warp(w, program, budget);
  if (op.plain) return run_plain(w, program.code.data(), budget) ? RunStop::budget : RunStop::fault;
  Cluster& cluster = *w.cta->cluster;
  w.block.reason = BlockReason::none;
  w.waits_on_mbarrier = false;
  const LaneMask mask = w.active & read_pred(w, op.guard);
  const size_t queued = cluster.next_op;
  const Effect effect = mask != 0 || op.needs_all ? op.fn(w, op, mask) : Effect::next;
  if (effect == Effect::blocked) return RunStop::blocked;
  ++w.instructions;
  if (effect == Effect::fault) return RunStop::fault;
  if (effect == Effect::exited) return RunStop::finished;
  if (effect == Effect::jumped) return RunStop::budget;
  ++w.pc;
  return effect == Effect::yield ? RunStop::yielded : cluster.next_op != queued ? RunStop::enqueued
                                                                                : RunStop::budget;
}

}  // namespace drywell::sim
