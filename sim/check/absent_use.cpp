#include "sim/check/absent_use.h"

#include <bit>
#include <optional>

#include "drywell/isa/spec.h"
#include "sim/check/local_accesses.h"
#include "sim/exec/collisions.h"
#include "sim/exec/exec.h"
#include "sim/exec/fragment.h"
#include "sim/state/payload/matrix.h"
#include "sim/state/payload/memory.h"

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

bool from_nothing(ClusterParts& parts, const Warp& w, const AbsentMarks& m) { return parts.state_of(w).absent.from_nothing(m); }
bool from_hole(ClusterParts& parts, const Warp& w, const AbsentMarks& m) { return from_nothing(parts, w, m) && parts.state_of(w).absent.origin_at(m.origin).agent == Agent::hole; }

Rule rule_of(ClusterParts& parts, const Warp& w, const AbsentMarks& m) { return rule_of_origin(parts.state_of(w).absent.origin_at(m.origin).agent); }

// An address that 0 was added to is a place, which the missing value decides.
void check_address(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, const AbsentMarks& m) {
  if (from_nothing(parts, w, m)) return report(parts, w, op, rule_of(parts, w, m), m.any() & mask, m, "an address, made of the value");
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

// Shared memory may not be read: the value is followed there, and where it is passed. From local memory: a copy of a structure takes
// along what nobody uses.
void check_data(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space, const AbsentMarks& m) {
  const bool store = isa::spec(op.opcode).memory == MemoryRole::store, passed = names_param(*parts.launch.program, op);
  const LaneMask used = store && !passed ? lanes_in_global(w, op, mask, space) : mask;
  if (from_hole(parts, w, m)) return passed ? void() : report(parts, w, op, Rule::local_unwritten, m.wrong & used, m, "the stored value");
  if (from_nothing(parts, w, m)) return passed ? void() : report(parts, w, op, rule_of(parts, w, m), m.any() & used, m, "the stored value");
  if (passed) return;
  const LaneMask wrong = m.wrong & used;
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

/// The own CTA's or a peer's shared memory, at that lane's address; nothing: other memory.
std::optional<uint32_t> place_in_shared(const Warp& w, const DecodedOp& op, uint32_t lane, Space space) {
  const uint64_t a = lane_address(w, op, lane);
  if (space == Space::global || space == Space::local || space == Space::param || (space == Space::generic && !is_shared_generic(a))) return std::nullopt;
  return shared_address(w, a, space != Space::shared_cta);
}

// Two bytes of a lane's register lie side by side in a row, whose address a lane gives.
void note_matrix_load(ClusterParts& parts, const Warp& w, const DecodedOp& op) {
  const auto& x = op.as<payload::MatrixRows>();
  const auto place = parts.launch.program->instruction(op).has(isa::Mod::trans) ? rows_transposed_b16 : rows_plain;
  const Src* const slots = slots_at(w, x.first_slot);
  for (uint32_t i = 0; i < 2 * x.count * kWarpSize; ++i) {
    const uint32_t r = i / (2 * kWarpSize), lane = i / 2 % kWarpSize;
    const RowByte from = place(lane, r, i % 2 * 2);
    const auto row = place_in_shared(w, op, from.row, x.space);
    MemoryHole h{slots[r].offset, LaneMask{1} << lane, true};
    if (row && parts.memory.is_undefined(shared_rank(*row), shared_offset(*row) + from.byte, 2, h.stored)) note_hole(parts.state_of(w).holes, h);
  }
}

}  // namespace

Rule rule_of_origin(Agent a) {
  switch (a) {
    case Agent::hole: return Rule::local_unwritten;
    case Agent::unset: return Rule::shared_unwritten;
    case Agent::vacant: return Rule::tensor_unwritten;
    case Agent::contested: return Rule::lanes_collide;
    default: return Rule::register_unwritten;
  }
}

bool stores_shared(const Warp& w, const DecodedOp& op, uint32_t lane, Space space) { return place_in_shared(w, op, lane, space).has_value(); }

void note_contested(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask lanes) {
  const auto& x = op.as<payload::Access>();
  const Access origin = parts.access(w, op, lanes, Agent::contested, true);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto one = static_cast<uint32_t>(std::countr_zero(left));
    const auto at = place_in_shared(w, op, one, x.space);
    for_lanes(left & (left - 1), [&](uint32_t other) {
      if (!at || lane_address(w, op, one) != lane_address(w, op, other)) return;
      for (uint32_t k = 0; k < x.count; ++k)
        if (element_differs(w, op, k, one, other)) parts.memory.store_undefined(shared_rank(*at), shared_offset(*at) + k * x.element, x.element, origin);
    });
  }
}

bool marks_memory(const DecodedOp& op, Space space) { return follows(isa::spec(op.opcode).memory) && space != Space::param; }

void mark_unwritten(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (parts.launch.predicates.of(parts.pc_of(op)).transfer != Transfer::uses) return;
  WarpState& state = parts.state_of(w);
  state.registers.each_missing(w, parts.launch.followed, op, mask, [&](uint32_t slot, LaneMask lanes) {
    const uint16_t origin = state.absent.origin(parts.access(w, op, lanes, Agent::blank, false));
    state.absent.set_register(slot, lanes, {0, lanes, 0, origin});
    state.registers.define(slot, lanes);
  });
}

void note_shared_store(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  const payload::Access* const x = op.get_if<payload::Access>();
  if (x == nullptr) return;
  const AbsentValues& values = parts.state_of(w).absent;
  const Src* const slots = slots_at(w, x->first_slot);
  for (uint32_t k = 0; k < x->count; ++k) {
    const AbsentMarks m = slots[k].bank == 0 ? values.of_register(w.frame_base + slots[k].offset).of(mask) : AbsentMarks{};
    if (!values.from_nothing(m)) continue;
    for_lanes(m.any(), [&](uint32_t lane) {
      const auto at = place_in_shared(w, op, lane, x->space);
      if (at) parts.memory.store_undefined(shared_rank(*at), shared_offset(*at) + k * x->element, x->element, values.origin_at(m.origin));
    });
  }
}

bool marks_loaded(const Program& p, const DecodedOp& op) {
  if (op.get_if<payload::Access>() != nullptr) return true;
  const auto* const x = op.get_if<payload::MatrixRows>();
  return x != nullptr && x->packed_bits == 0 && p.instruction(op).has(isa::Mod::m8n8);
}

void note_shared_load(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.get_if<payload::MatrixRows>() != nullptr) return note_matrix_load(parts, w, op);
  const payload::Access* const x = op.get_if<payload::Access>();
  if (x == nullptr) return;
  const Src* const slots = slots_at(w, x->first_slot);
  for_lanes(mask, [&](uint32_t lane) {
    const auto at = place_in_shared(w, op, lane, x->space);
    for (uint32_t k = 0; at && k < x->count; ++k) {
      MemoryHole h{slots[k].offset, LaneMask{1} << lane, true};
      if (slots[k].bank == 0 && parts.memory.is_undefined(shared_rank(*at), shared_offset(*at) + k * x->element, x->element, h.stored)) note_hole(parts.state_of(w).holes, h);
    }
  });
}

void check_absent_use(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, const AbsentMarks& m) {
  const bool checked = op.flow != isa::Flow::next || isa::spec(op.opcode).memory != MemoryRole::none;
  if (checked || !from_nothing(parts, w, m) || from_hole(parts, w, m)) return;
  report(parts, w, op, rule_of(parts, w, m), m.any() & mask, m, "an operand");
}

void check_absent_operands(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  if (!marks_memory(op, space)) return;
  check_absent_guard(parts, w, op);
  const isa::Function& f = parts.launch.program->function_of(op);
  const isa::Instruction& i = parts.launch.program->instruction(op);
  const auto positions = isa::operand_positions(f, i);
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (positions[k] < 0) continue;
    const Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
    if (o.kind == Operand::Kind::addr) {
      if (o.base == Operand::Base::reg) check_address(parts, w, op, mask, parts.state_of(w).absent.of_register(w.frame_base + parts.launch.program->functions[op.function].reg_offset[o.index]));
    } else if (row.operands[k].access != isa::Access::write && (space != Space::local || names_param(*parts.launch.program, op))) {
      check_data(parts, w, op, mask, space, marks_of(parts, w, op, o));
    }
  }
}

void check_absent_guard(ClusterParts& parts, const Warp& w, const DecodedOp& op) {
  const MemoryRole role = isa::spec(op.opcode).memory;
  if (op.guard.index == 0 || !follows(role) || role == MemoryRole::load) return;
  const AbsentMarks& m = parts.state_of(w).absent.of_predicate(w.frames[w.frame].preds + op.guard.index);
  if (from_nothing(parts, w, m) && !from_hole(parts, w, m)) report(parts, w, op, rule_of(parts, w, m), m.any() & w.active, m, "the guard of the access");
}

void check_absent_branch(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.guard.index == 0 || op.flow != isa::Flow::branch) return;
  const AbsentMarks& m = parts.state_of(w).absent.of_predicate(w.frames[w.frame].preds + op.guard.index);
  const Rule rule = from_nothing(parts, w, m) ? rule_of(parts, w, m) : Rule::absent_lane_taken;
  report(parts, w, op, rule, m.any() & lanes_at_branch(parts, w, op, mask), m, "the condition of the branch");
}

}  // namespace drywell::sim::check
