#include "sim/timing/block_motion.h"

#include <algorithm>

#include "drywell/isa/strong.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {
namespace {

using isa::Flow;
using isa::Instruction;
using isa::MemoryRole;
using isa::Mod;
using isa::Operand;
using isa::RegId;

constexpr unsigned kDeepest = 8;       // definitions that an address is followed through
constexpr uint32_t kMostAligned = 16;  // bytes of the widest access

bool is_weak(const Instruction& i) { return !isa::is_uncached(i); }

// Parameters and constants are operands of other instructions in the machine: there is nothing to wait for.
bool is_constant(const Instruction& i) {
  const Mod space = i.mod(isa::Slot::space);
  return space == Mod::param || space == Mod::param_entry || space == Mod::const_;
}

bool is_shared_space(Mod m) { return m == Mod::shared || m == Mod::shared_cta || m == Mod::shared_cluster; }

bool is_move(const Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  return row.memory == MemoryRole::none && row.timing == isa::TimingClass::move;
}

// ptxas makes a branch around the exceptions of a root or a quotient, so that a block ends there (steps3 of mix.toml,
// traces/hw/h200-2026-11-27-arithmetic.csv).
bool parts_a_block(const Instruction& i, isa::TimingClass t) { return is_refined(i) || (is_sequence(t) && t != isa::TimingClass::idiv); }

isa::Fold fold_of(const Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  return row.memory == MemoryRole::none ? row.fold : isa::Fold::none;
}

// mad; dp2a has types of its own for its factors.
bool is_product_and_sum(const Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  return row.memory == MemoryRole::none && row.slot_index(isa::Slot::half) >= 0 && row.slot_index(isa::Slot::atype) < 0;
}

uint32_t alignment_of(int64_t value) {
  return value == 0 ? kMostAligned : static_cast<uint32_t>(std::min<uint64_t>(kMostAligned, static_cast<uint64_t>(value) & (~static_cast<uint64_t>(value) + 1)));
}

}  // namespace

Motion motion_of(const isa::Function& f, const Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  if (row.flow != Flow::next || row.sync != isa::SyncRole::none || row.completion != isa::Completion::sync)
    return Motion::wall;
  switch (row.memory) {
    case MemoryRole::load: return is_constant(i) ? Motion::pure : is_weak(i) ? Motion::load
                                                                             : Motion::wall;
    case MemoryRole::matrix_load:
    case MemoryRole::fragment_load: return Motion::load;
    case MemoryRole::store:
    case MemoryRole::matrix_store:
    case MemoryRole::fragment_store: return is_weak(i) ? Motion::store : Motion::wall;
    case MemoryRole::none: break;
    case MemoryRole::atomic:
    case MemoryRole::reduction:
    case MemoryRole::fill:
    case MemoryRole::async_store:
    case MemoryRole::multimem: return Motion::wall;
  }
  const isa::TimingClass timing = timing_class(f, i);
  if (timing == isa::TimingClass::clock || parts_a_block(i, timing)) return Motion::wall;
  if (row.engine != isa::Engine::alu && row.engine != isa::Engine::none) return Motion::fixed;
  return row.issue == isa::Issue::lane && !row.convergent ? Motion::pure : Motion::fixed;
}

bool Place::is_shared() const { return is_shared_space(space); }

Places::Places(const isa::Function& f, const std::vector<Registers>& registers) : f_(f), definitions_(f.regs.size()) {
  for (uint32_t i = 0; i < registers.size(); ++i) {
    for (const RegId r : registers[i].writes) definitions_[r].push_back(i);
  }
}

Place Places::of(const Instruction& i) const {
  Place p;
  p.space = i.mod(isa::Slot::space);
  p.constant = is_constant(i) || i.has(Mod::nc);
  uint32_t elements = 1;
  for (const Operand& o : f_.operands(i)) {
    if (o.kind == Operand::Kind::vec) elements = std::max<uint32_t>(elements, o.count);
    if (o.kind != Operand::Kind::addr) continue;
    p.base = o.base;
    p.index = o.index;
    p.offset = o.value;
    p.root = o.base == Operand::Base::symbol ? std::optional(o.index)
             : o.base == Operand::Base::reg  ? root(o.index, 0)
                                             : std::nullopt;
  }
  const bool plain =
      isa::spec(i.op).memory == MemoryRole::load || isa::spec(i.op).memory == MemoryRole::store;
  p.bytes = plain ? elements * std::max(8u, isa::type_bits(i.mod(isa::Slot::type))) / 8 : 0;
  return p;
}

bool Places::may_meet(const Place& l, const Place& s, bool same_base_value) {
  if (l.constant) return false;
  if (l.space != Mod::none && s.space != Mod::none && l.is_shared() != s.is_shared()) return false;
  if (l.root.has_value() && s.root.has_value() && *l.root != *s.root) return false;
  if (!same_base_value || l.base != s.base || l.index != s.index || l.bytes == 0 || s.bytes == 0) return true;
  return l.offset < s.offset + s.bytes && s.offset < l.offset + l.bytes;
}

// The variable whose address a register was made from by moves and sums.
std::optional<uint32_t> Places::root(RegId r, unsigned depth) const {
  if (depth == kDeepest || r >= definitions_.size() || definitions_[r].size() != 1) return std::nullopt;
  const Instruction& i = f_.body[definitions_[r].front()];
  if (!is_move(i) && !isa::is_sum(fold_of(i)) && fold_of(i) != isa::Fold::product) return std::nullopt;
  const auto operands = f_.operands(i);
  for (size_t k = 1; k < operands.size(); ++k) {
    if (operands[k].kind == Operand::Kind::symbol) return operands[k].index;
    if (operands[k].kind != Operand::Kind::reg) continue;
    if (const auto found = root(operands[k].index, depth + 1); found.has_value()) return found;
  }
  return std::nullopt;
}

uint32_t Places::alignment(const Place& p) const {
  const uint32_t base = p.base == Operand::Base::reg      ? alignment_of_register(p.index, 0)
                        : p.base == Operand::Base::symbol ? kMostAligned
                                                          : 1;
  return std::min(base, alignment_of(p.offset));
}

// A register that is being followed already is as aligned as its other definitions leave it.
uint32_t Places::alignment_of_register(RegId r, unsigned depth) const {
  if (std::find(followed_.begin(), followed_.end(), r) != followed_.end()) return kMostAligned;
  if (depth == kDeepest || r >= definitions_.size() || definitions_[r].empty()) return 1;
  followed_.push_back(r);
  uint32_t least = kMostAligned;
  for (const uint32_t at : definitions_[r]) least = std::min(least, alignment_of_result(f_.body[at], depth));
  followed_.pop_back();
  return least;
}

uint32_t Places::alignment_of_result(const Instruction& i, unsigned depth) const {
  const auto operands = f_.operands(i);
  const auto of = [&](size_t k) { return alignment_of_operand(operands[k], depth + 1); };
  if (is_move(i) && operands.size() == 2) return of(1);
  if (fold_of(i) == isa::Fold::shift && operands[2].kind == Operand::Kind::imm)
    return operands[2].value >= 4 ? kMostAligned : std::min(kMostAligned, of(1) << operands[2].value);
  if ((fold_of(i) == isa::Fold::product || is_product_and_sum(i)) && !i.has(Mod::hi))
    return std::min({kMostAligned, of(1) * of(2), operands.size() > 3 ? of(3) : kMostAligned});
  if (isa::is_sum(fold_of(i)) && operands.size() == 3) return std::min(of(1), of(2));
  if (fold_of(i) == isa::Fold::mask) return std::max(of(1), of(2));
  if (fold_of(i) == isa::Fold::logic) return std::min(of(1), of(2));
  return 1;
}

uint32_t Places::alignment_of_operand(const Operand& o, unsigned depth) const {
  switch (o.kind) {
    case Operand::Kind::imm: return alignment_of(o.value);
    case Operand::Kind::symbol: return kMostAligned;
    case Operand::Kind::reg: return alignment_of_register(o.index, depth);
    default: return 1;
  }
}

std::vector<Loop> loops_of(const isa::Function& f) {
  std::vector<Loop> loops;
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    for (const Operand& o : f.operands(f.body[i])) {
      if (o.kind == Operand::Kind::label && f.labels[o.index].position <= i) loops.push_back({f.labels[o.index].position, i});
    }
  }
  return loops;
}

namespace {

// The labels that branches name.
std::vector<uint32_t> targets_of(const isa::Function& f) {
  std::vector<uint32_t> labels;
  for (const Instruction& i : f.body) {
    for (const Operand& o : f.operands(i)) {
      if (o.kind == Operand::Kind::label) labels.push_back(o.index);
    }
  }
  for (const auto& list : f.branch_targets) labels.insert(labels.end(), list.begin(), list.end());
  return labels;
}

}  // namespace

// A block starts at a label to which something goes and after an instruction that may go elsewhere; pragmas keep their place, too. Of a predicated
// skip only the label is left, and loads move over it (conv3x3 of tests/corpus/timing).
std::vector<uint32_t> block_starts(const isa::Function& f) {
  std::vector<uint32_t> starts{0};
  for (const uint32_t l : targets_of(f)) starts.push_back(f.labels[l].position);
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    if (isa::spec(f.body[i].op).flow != Flow::next) starts.push_back(i + 1);
  }
  starts.push_back(static_cast<uint32_t>(f.body.size()));
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

}  // namespace drywell::sim
