#include "sim/check/absent_use.h"

#include "drywell/isa/spec.h"
#include "sim/exec/exec.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;
using isa::Operand;

AbsentMarks marks_of(ClusterParts& parts, const Warp& w, const DecodedOp& op, const Operand& o) {
  const Program& p = *parts.launch.program;
  const isa::Function& f = p.function_of(op);
  const FunctionCode& code = p.functions[op.function];
  AbsentMarks all;
  if (o.kind == Operand::Kind::vec) {
    for (const Operand& e : f.elements(o)) all.add(marks_of(parts, w, op, e));
  } else if (o.kind == Operand::Kind::reg && f.regs[o.index].type != isa::Mod::pred) {
    all = parts.state_of(w).absent.of_register(w.frame_base + code.reg_offset[o.index]);
  }
  return all;
}

void report(ClusterParts& parts, const Warp& w, const DecodedOp& op, Rule rule, LaneMask lanes, const AbsentMarks& m, const char* use) {
  if (lanes == 0) return;
  const Access from = parts.state_of(w).absent.origin_at(m.origin);
  const bool write = isa::spec(op.opcode).memory != MemoryRole::load && isa::spec(op.opcode).memory != MemoryRole::none;
  parts.reporter.report(rule, &from, parts.access(w, op, lanes, Agent::thread, write), [&] { return std::string(use); });
}

bool from_local(ClusterParts& parts, const Warp& w, const AbsentMarks& m) { return parts.state_of(w).absent.from_local(m); }

// An address that 0 was added to is a place, which the missing value decides.
void check_address(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, const AbsentMarks& m) {
  if (from_local(parts, w, m)) return report(parts, w, op, Rule::local_unwritten, m.any() & mask, m, "an address, made of the value");
  const LaneMask wrong = (m.wrong | m.fresh) & mask;
  report(parts, w, op, Rule::absent_lane_used, wrong, m, "an address, made of the value");
  report(parts, w, op, Rule::absent_lane_taken, m.any() & mask & ~wrong, m, "an address, made of the value");
}

LaneMask lanes_in_global(const Warp& w, const DecodedOp& op, LaneMask mask, Space space) {
  if (space == Space::global) return mask;
  LaneMask lanes = 0;
  if (space == Space::generic) for_lanes(mask, [&](uint32_t lane) { lanes |= LaneMask{lane_address(w, op, lane) >= window::kGlobalBase} << lane; });
  return lanes;
}

// From local memory: a copy of a structure takes along what nobody uses, and shared memory may not be read.
void check_data(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space, const AbsentMarks& m) {
  const bool store = isa::spec(op.opcode).memory == MemoryRole::store;
  const LaneMask wrong = m.wrong & (store ? lanes_in_global(w, op, mask, space) : mask);
  if (from_local(parts, w, m)) return report(parts, w, op, Rule::local_unwritten, wrong, m, "the stored value");
  report(parts, w, op, Rule::absent_lane_used, wrong, m, "the stored value");
  report(parts, w, op, Rule::absent_lane_taken, m.any() & mask & ~wrong, m, "the stored value");
}

// Those that go on behind the branch have come to it, too.
LaneMask lanes_at_branch(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t next = parts.pc_of(op) + 1;
  if (w.pc == next) mask |= w.active;
  for (const LaneGroup& g : w.waiting)
    if (g.pc == next && g.frame == w.frame) mask |= g.lanes;
  return mask;
}

bool follows(MemoryRole r) { return r == MemoryRole::load || r == MemoryRole::store || r == MemoryRole::atomic || r == MemoryRole::reduction; }

}  // namespace

void check_absent_operands(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  if (!follows(row.memory) || space == Space::local || space == Space::param) return;
  const isa::Function& f = parts.launch.program->function_of(op);
  const isa::Instruction& i = parts.launch.program->instruction(op);
  const auto positions = isa::operand_positions(f, i);
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (positions[k] < 0) continue;
    const Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
    if (o.kind == Operand::Kind::addr) {
      if (o.base == Operand::Base::reg) check_address(parts, w, op, mask, parts.state_of(w).absent.of_register(w.frame_base + parts.launch.program->functions[op.function].reg_offset[o.index]));
    } else if (row.operands[k].access != isa::Access::write) {
      check_data(parts, w, op, mask, space, marks_of(parts, w, op, o));
    }
  }
}

void check_absent_branch(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.guard.index == 0 || op.flow != isa::Flow::branch) return;
  const AbsentMarks& m = parts.state_of(w).absent.of_predicate(w.frames[w.frame].preds + op.guard.index);
  const Rule rule = from_local(parts, w, m) ? Rule::local_unwritten : Rule::absent_lane_taken;
  report(parts, w, op, rule, m.any() & lanes_at_branch(parts, w, op, mask), m, "the condition of the branch");
}

}  // namespace drywell::sim::check
