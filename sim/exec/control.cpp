// Semantics of table/control.inc: branches, exit, traps. Calls and returns are in call.cpp.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"

namespace drywell::sim {
namespace {

void jump(Warp& w, uint32_t target) {
  if (target <= w.pc) ++w.backward;
  w.pc = target;
}

Effect branch(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask == w.active) {
    jump(w, op.target);
    return Effect::jumped;
  }
  // The lanes that do not branch go on at the next instruction; the group with the lower pc runs first, so that the
  // groups meet again where the code joins.
  const LaneMask rest = w.active & ~mask;
  LaneGroup taken{op.target, mask, w.frame, w.backward + (op.target <= w.pc ? 1u : 0u)};
  LaneGroup fallthrough{w.pc + 1, rest, w.frame, w.backward};
  const bool take = taken.pc < fallthrough.pc;
  const LaneGroup& now = take ? taken : fallthrough;
  w.waiting.push_back(take ? fallthrough : taken);
  w.pc = now.pc;
  w.active = now.lanes;
  w.backward = now.backward;
  return Effect::jumped;
}

// src[0]: index; Program::targets[op.vec … op.vec + op.extra - 1]: where it goes.
Effect branch_indexed(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t* index = lanes<uint32_t>(w, op.src[0]);
  const uint32_t* targets = &w.cta->cluster->launch->program->targets[op.vec];
  std::vector<LaneGroup> groups;
  for (LaneMask left = mask; left != 0;) {
    const uint32_t i = index[std::countr_zero(left)];
    LaneMask same = 0;
    for_lanes(left, [&](uint32_t lane) { same |= LaneMask{index[lane] == i} << lane; });
    if (i >= op.extra) return fault(w, "F3703", fmt::format("brx.idx with index {} by lanes {:#010x}; the list has {} targets", i, same, op.extra));
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
  ++w.pc;  // a guarded exit: the others go on
  return Effect::jumped;
}

Effect trap(Warp& w, const DecodedOp&, LaneMask mask) { return fault(w, "F3701", fmt::format("trap executed by lanes {:#010x}", mask)); }
Effect brkpt(Warp& w, const DecodedOp&, LaneMask mask) { return fault(w, "F3704", fmt::format("brkpt executed by lanes {:#010x}, and no debugger is attached", mask)); }

// Others get their turn; how long the sleep lasts is the timed driver's business.
Effect nanosleep(Warp&, const DecodedOp&, LaneMask) { return Effect::yield; }

// Registers are not scarce here: only the count a warp asked for is kept. inc never takes fewer than the warp has, dec never
// more (PTX ISA 9.7.19.5: undefined).
template <bool Increase>
Effect set_max_registers(Warp& w, const DecodedOp& op, LaneMask) {
  const uint32_t now = w.max_registers;
  if (now != 0 && (Increase ? op.extra < now : op.extra > now)) {
    return fault(w, "F3407", fmt::format("setmaxnreg.{} to {} registers by warp {}, which has {}", Increase ? "inc" : "dec", op.extra, w.index, now));
  }
  w.max_registers = op.extra;
  return Effect::next;
}

Effect no_effect(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

}  // namespace

template <> ExecFn bind<isa::Opcode::bra>(Decoder& d, DecodedOp& op) { op.target = d.label_pc(d.operand(0)->index); return branch; }
template <> ExecFn bind<isa::Opcode::brx_idx>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  const isa::SymbolRef& list = d.function().symbols[d.operand(1)->index];
  if (list.kind != isa::SymbolRef::Kind::branch_targets) throw Unsupported(fmt::format("'{}' is not a .branchtargets list", list.name));
  op.vec = static_cast<uint32_t>(d.program().targets.size());
  for (const uint32_t label : d.function().branch_targets[list.index]) d.program().targets.push_back(d.label_pc(label));
  op.extra = static_cast<uint32_t>(d.program().targets.size()) - op.vec;
  return branch_indexed;
}
template <> ExecFn bind<isa::Opcode::exit>(Decoder&, DecodedOp&) { return end_threads; }
template <> ExecFn bind<isa::Opcode::trap>(Decoder&, DecodedOp&) { return trap; }
template <> ExecFn bind<isa::Opcode::brkpt>(Decoder&, DecodedOp&) { return brkpt; }
template <> ExecFn bind<isa::Opcode::pmevent>(Decoder&, DecodedOp&) { return no_effect; }
template <> ExecFn bind<isa::Opcode::nanosleep>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  return nanosleep;
}
template <> ExecFn bind<isa::Opcode::setmaxnreg>(Decoder& d, DecodedOp& op) {
  op.extra = static_cast<uint32_t>(d.operand(0)->value);
  return d.has(isa::Mod::inc) ? set_max_registers<true> : set_max_registers<false>;
}

}  // namespace drywell::sim
