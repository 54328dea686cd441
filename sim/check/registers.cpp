#include "sim/check/registers.h"

#include "drywell/isa/spec.h"
#include "sim/check/followed_registers.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/call.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kSlot = kRegisterSlot;

void add_predicates(const isa::Function& f, const FunctionCode& code, const isa::Operand& o, std::vector<uint16_t>& out) {
  using Kind = isa::Operand::Kind;
  if (o.kind == Kind::reg && f.regs[o.index].type == isa::Mod::pred) out.push_back(static_cast<uint16_t>(code.reg_offset[o.index]));
  if (o.kind == Kind::vec || o.kind == Kind::pair || o.kind == Kind::args) {
    for (const isa::Operand& e : f.elements(o)) add_predicates(f, code, e, out);
  }
}

bool is_predicate(const isa::OperandSpec& o) { return o.type.from == isa::TypeRule::From::fixed && o.type.fixed == isa::Mod::pred; }

/// d = c ? a : b, by a predicate c.
bool is_selection(const isa::InstrSpec& row) {
  const isa::OperandSpec& d = row.operands[0];
  const isa::OperandSpec& c = row.operands[3];
  return row.engine == isa::Engine::alu && row.operand_count() == 4 && d.access == isa::Access::write && !is_predicate(d) && c.access == isa::Access::read && is_predicate(c) && !c.optional;
}

Transfer transfer_of(const isa::InstrSpec& row) {
  if (row.timing == isa::TimingClass::move || row.packs) return Transfer::moves;
  return is_selection(row) ? Transfer::selects : Transfer::uses;
}

void put(LaneMask& defined, LaneMask lanes, LaneMask mask) { defined = (defined & ~mask) | lanes; }

/// Lanes of `mask` for which a moved register has a value: of several that are packed, one.
LaneMask moved(const Program::RegUse& use, const uint32_t* at, const LaneMask* registers, LaneMask mask) {
  LaneMask any = use.reads == 0 ? mask : 0;
  for (uint32_t i = 0; i < use.reads; ++i) any |= registers[at[i] / kSlot];
  return any & mask;
}

LaneMask selected(const Warp& w, const DecodedOp& op, const LaneMask* registers, LaneMask mask) {
  const auto of = [&](const Src& s) { return s.bank == 0 ? registers[s.offset / kSlot] : kFullMask; };
  const LaneMask first = read_pred(w, op.pred[0]);
  return ((first & of(op.src[0])) | (~first & of(op.src[1]))) & mask;
}

bool calls(const DecodedOp& op) { return op.flow == isa::Flow::call; }

}  // namespace

PredicateUse::PredicateUse(const Program& p) {
  for (const DecodedOp& op : p.code) {
    Use use{static_cast<uint32_t>(lists_.size()), 0, 0, transfer_of(isa::spec(op.opcode))};
    const isa::Function& f = p.function_of(op);
    if (op.instr < f.body.size()) {
      const isa::Instruction& i = p.instruction(op);
      const FunctionCode& code = p.functions[op.function];
      std::vector<uint16_t> reads, writes;
      if (i.guard != isa::kNoReg) reads.push_back(op.guard.index);
      const isa::InstrSpec& row = isa::spec(i.op);
      const auto positions = isa::operand_positions(f, i);
      for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
        if (positions[k] < 0) continue;
        const isa::Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
        if (row.operands[k].access != isa::Access::write) add_predicates(f, code, o, reads);
        if (row.operands[k].access != isa::Access::read) add_predicates(f, code, o, writes);
      }
      use.reads = static_cast<uint16_t>(reads.size());
      use.writes = static_cast<uint16_t>(writes.size());
      lists_.insert(lists_.end(), reads.begin(), reads.end());
      lists_.insert(lists_.end(), writes.begin(), writes.end());
    }
    uses_.push_back(use);
  }
}

uint32_t RegisterShadow::frame_of(const Warp& w, const Program& p, const DecodedOp& op) const {
  if (!calls(op)) return w.frame;
  const bool entered = p.calls[op.as<payload::Call>().site].builtin == Builtin::none;
  return entered ? w.frames[w.frame].parent : w.frame;
}

void RegisterShadow::enter(const Warp& w, const Program& p, const FollowedRegisters& followed, uint32_t frame, LaneMask lanes) {
  const CallFrame& f = w.frames[frame];
  const FunctionCode& code = p.functions[f.function];
  const uint32_t first = f.registers / kSlot, end = first + code.frame_bytes / kSlot + 1;
  if (defined_.size() < end) defined_.resize(end, 0);
  if (predicates_.size() < f.preds + code.pred_count) predicates_.resize(f.preds + code.pred_count, 0);
  const auto begin = [&](LaneMask& defined, bool follows) { follows ? void(defined &= ~lanes) : void(defined = kFullMask); };
  for (uint32_t i = first; i + 1 < end; ++i) begin(defined_[i], followed.has_register(i - first));
  for (uint32_t i = 0; i < code.pred_count; ++i) begin(predicates_[f.preds + i], followed.has_predicate(i));
  const auto give = [&](uint32_t slot) { defined_[first + slot / kSlot] = kFullMask; };
  give(code.scratch);
  if (frame != 0) give(code.return_pc);
  for (const FunctionCode::FrameAddress& a : code.frame_addresses) give(a.slot);
  for (const uint32_t own : {0u, code.carry, code.sink_pred}) predicates_[f.preds + own] = kFullMask;
}

// An indirect call that sends lanes to different functions enters all but one of their frames without an event here.
void RegisterShadow::prepare(const Warp& w, const Program& p, const FollowedRegisters& followed, uint32_t frame) {
  const CallFrame& f = w.frames[frame];
  if (predicates_.size() < f.preds + p.functions[f.function].pred_count) enter(w, p, followed, frame, kFullMask);
}

RegisterShadow::Missing RegisterShadow::step(const Warp& w, const PredicateUse& predicates, const FollowedRegisters& followed, const DecodedOp& op, LaneMask mask) {
  const Program& p = *w.cta->cluster->launch->program;
  Missing missing;
  if (op.flow == isa::Flow::return_) return missing;
  const uint32_t frame = frame_of(w, p, op);
  prepare(w, p, followed, frame);
  const auto pc = static_cast<size_t>(&op - p.code.data());
  const Program::RegUse& use = p.reg_use[pc];
  const uint32_t* at = p.reg_lists.data() + use.first;
  LaneMask* const registers = defined_.data() + w.frames[frame].registers / kSlot;
  const PredicateUse::Range r = predicates.of(pc);
  LaneMask made = mask;  // the lanes whose results have values
  switch (r.transfer) {
    case Transfer::uses:
      for (uint32_t i = 0; i < use.reads; ++i) missing.registers |= mask & ~registers[at[i] / kSlot];
      break;
    case Transfer::moves: made = moved(use, at, registers, mask); break;
    case Transfer::selects: made = selected(w, op, registers, mask); break;
  }
  for (uint32_t i = 0; i < use.writes; ++i) {
    if (const uint32_t slot = at[use.reads + i] / kSlot; followed.has_register(slot)) put(registers[slot], made, mask);
  }
  LaneMask* const preds = predicates_.data() + w.frames[frame].preds;
  for (uint32_t i = 0; i < r.reads; ++i) {
    const bool source = r.transfer == Transfer::moves && (i != 0 || r.at[i] != op.guard.index || op.guard.index == 0);
    if (source)
      made &= preds[r.at[i]];
    else
      missing.predicates |= mask & ~preds[r.at[i]];
  }
  for (uint32_t i = 0; i < r.writes; ++i) {
    if (const uint16_t index = r.at[r.reads + i]; followed.has_predicate(index)) put(preds[index], made, mask);
  }
  if (calls(op) && frame != w.frame) enter(w, p, followed, w.frame, mask);
  return missing;
}

void RegisterShadow::define(uint32_t slot, LaneMask lanes) {
  if (slot / kSlot >= defined_.size()) defined_.resize(slot / kSlot + 1, 0);
  defined_[slot / kSlot] |= lanes;
}

bool RegisterShadow::defined(const FollowedRegisters& followed, uint32_t slot, LaneMask lanes) const {
  return !followed.has_register(slot / kSlot) || (slot / kSlot < defined_.size() && (lanes & ~defined_[slot / kSlot]) == 0);
}

LaneMask RegisterShadow::skipped(const Warp& w, const FollowedRegisters& followed, const DecodedOp& op, LaneMask lanes) {
  prepare(w, *w.cta->cluster->launch->program, followed, w.frame);
  return lanes & ~predicates_[w.frames[w.frame].preds + op.guard.index];
}

}  // namespace drywell::sim::check
