// Semantics of table/control.inc: branches, exit, traps. Calls and returns are in call.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/sim/arch_config.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"
#include "sim/exec/entry_registers.h"
#include "sim/state/payload/branch.h"
#include "sim/state/payload/control.h"

namespace drywell::sim {
namespace {

void jump(Warp& w, uint32_t target) {
  if (target <= w.pc) ++w.backward;
  w.pc = target;
}

Effect branch(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t target = op.as<payload::Branch>().target;
  if (mask == w.active) {
    jump(w, target);
    return Effect::jumped;
  }
  // The lanes that do not branch continue at the next instruction; the group with the lower pc runs first, so that the
  // groups reconverge where the control flow joins.
  const LaneMask rest = w.active & ~mask;
  LaneGroup taken{target, mask, w.frame, w.backward + (target <= w.pc ? 1u : 0u)};
  LaneGroup fallthrough{w.pc + 1, rest, w.frame, w.backward};
  const bool take = taken.pc < fallthrough.pc;
  const LaneGroup& now = take ? taken : fallthrough;
  w.waiting.push_back(take ? fallthrough : taken);
  w.pc = now.pc;
  w.active = now.lanes;
  w.backward = now.backward;
  return Effect::jumped;
}

// src[0]: index.
Effect branch_indexed(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t* index = lanes<uint32_t>(w, op.src[0]);
  const auto& list = op.as<payload::IndexedBranch>();
  const uint32_t* targets = &w.cta->cluster->launch->program->targets[list.first];
  std::vector<LaneGroup> groups;
  for (LaneMask left = mask; left != 0;) {
    const uint32_t i = index[std::countr_zero(left)];
    LaneMask same = 0;
    for_lanes(left, [&](uint32_t lane) { same |= LaneMask{index[lane] == i} << lane; });
    if (i >= list.count) return fault(w, Code::F3703, fmt::format("brx.idx with index {} by lanes {:#010x}; the list has {} targets", i, same, list.count));
    groups.push_back({targets[i], same, w.frame, w.backward + (targets[i] <= w.pc ? 1u : 0u)});
    left &= ~same;
  }
  if (const LaneMask rest = w.active & ~mask; rest != 0) groups.push_back({w.pc + 1, rest, w.frame, w.backward});
  run_groups(w, groups);
  return Effect::jumped;
}

Effect end_threads(Warp& w, const DecodedOp&, LaneMask mask) {
  w.alive &= ~mask;
  w.active &= ~mask;
  w.cta->cluster->wake(*w.cta);
  if (w.active == 0) return Effect::exited;
  ++w.pc;  // a guarded exit: the other lanes continue
  return Effect::jumped;
}

Effect trap(Warp& w, const DecodedOp&, LaneMask mask) { return fault(w, Code::F3701, fmt::format("trap executed by lanes {:#010x}", mask)); }
Effect brkpt(Warp& w, const DecodedOp&, LaneMask mask) { return fault(w, Code::F3704, fmt::format("brkpt executed by lanes {:#010x}, and no debugger is attached", mask)); }

// The warp yields, so that other warps run; the timed driver models the duration of the sleep.
Effect nanosleep(Warp&, const DecodedOp&, LaneMask) { return Effect::yield; }

Effect set_registers(Warp& w, const DecodedOp& op, LaneMask) {
  const auto [count, grow] = op.as<payload::SetRegisters>();
  if (w.max_registers == 0) w.max_registers = known_registers(*w.cta->cluster->launch);
  if (w.max_registers == 0) return Effect::next;
  if (grow ? count < w.max_registers : count > w.max_registers) {
    return fault(w, Code::F3407, fmt::format("setmaxnreg.{} to {} registers by warp {}, which has {}", grow ? "inc" : "dec", count, w.index, w.max_registers));
  }
  if (grow) {
    const uint32_t more = (count - w.max_registers) * kWarpSize;
    if (more > w.cta->register_pool) return block(w, BlockReason::setmaxnreg, more);
    w.cta->register_pool -= more;
  } else {
    w.cta->register_pool += (w.max_registers - count) * kWarpSize;
    w.cta->cluster->wake(*w.cta);
  }
  w.max_registers = count;
  return Effect::next;
}

Effect no_effect(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

}  // namespace

template <> ExecFn bind<isa::row::bra>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::Branch>({.target = d.label_pc(d.operand(0)->index)});
  return branch;
}
template <> ExecFn bind<isa::row::brx_idx>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  const isa::SymbolRef& list = d.function().symbols[d.operand(1)->index];
  if (list.kind != isa::SymbolRef::Kind::branch_targets) throw Unsupported(fmt::format("'{}' is not a .branchtargets list", list.name));
  std::vector<uint32_t>& targets = d.program().targets;
  const auto first = static_cast<uint32_t>(targets.size());
  for (const uint32_t label : d.function().branch_targets[list.index]) targets.push_back(d.label_pc(label));
  op.emplace<payload::IndexedBranch>({.first = first, .count = static_cast<uint32_t>(targets.size()) - first});
  return branch_indexed;
}
template <> ExecFn bind<isa::row::exit>(Decoder&, DecodedOp&) { return end_threads; }
template <> ExecFn bind<isa::row::trap>(Decoder&, DecodedOp&) { return trap; }
template <> ExecFn bind<isa::row::brkpt>(Decoder&, DecodedOp&) { return brkpt; }
template <> ExecFn bind<isa::row::pmevent>(Decoder&, DecodedOp&) { return no_effect; }
template <> ExecFn bind<isa::row::nanosleep>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  return nanosleep;
}
template <> ExecFn bind<isa::row::setmaxnreg>(Decoder& d, DecodedOp& op) {
  const auto count = static_cast<uint32_t>(d.operand(0)->value);
  op.emplace<payload::SetRegisters>({.count = count, .grow = d.has(isa::Mod::inc)});
  d.program().sets_registers = true;
  if (d.has(isa::Mod::inc)) d.program().most_registers = std::max(d.program().most_registers, count);
  return set_registers;
}

}  // namespace drywell::sim
