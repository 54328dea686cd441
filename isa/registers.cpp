#include "drywell/isa/registers.h"

#include <algorithm>
#include <cstddef>

namespace drywell::isa {
namespace {

void add(const Function& f, const Operand& o, std::vector<RegId>& to) {
  using Kind = Operand::Kind;
  if (o.kind == Kind::reg || (o.kind == Kind::addr && o.base == Operand::Base::reg)) to.push_back(o.index);
  if (o.kind == Kind::vec || o.kind == Kind::tensor || o.kind == Kind::pair || o.kind == Kind::args) {
    for (const Operand& e : f.elements(o)) add(f, e, to);
  }
}

// True if the instruction has no effect but on the registers it writes.
bool only_computes(const Instruction& i) {
  const InstrSpec& row = spec(i.op);
  const bool here = row.issue == Issue::lane && row.completion == Completion::sync && row.flow == Flow::next;
  return here && row.memory == MemoryRole::none && row.sync == SyncRole::none && i.mod(Slot::carry) == Mod::none;
}

/// Readers of each register that are not unused.
class Readers {
 public:
  Readers(const Function& f, const std::vector<Registers>& registers) : count_(f.regs.size()), registers_(registers) {
    for (const Registers& r : registers)
      for (const RegId read : r.reads) ++count_[read];
    for (const Variable& v : f.returns)
      for (size_t r = 0; r < f.regs.size(); ++r) count_[r] += f.regs[r].name == v.name ? 1 : 0;
  }
  /// A guarded instruction reads the register it writes: that is no other's use of it.
  bool none_of(uint32_t i) const {
    const Registers& r = registers_[i];
    return !r.writes.empty() && std::all_of(r.writes.begin(), r.writes.end(), [&](RegId w) { return count_[w] == std::count(r.reads.begin(), r.reads.end(), w); });
  }
  void forget(uint32_t i) {
    for (const RegId read : registers_[i].reads) --count_[read];
  }

 private:
  std::vector<std::ptrdiff_t> count_;
  const std::vector<Registers>& registers_;
};

}  // namespace

Registers registers_of(const Function& f, const Instruction& i) {
  Registers r;
  const InstrSpec& row = spec(i.op);
  const auto positions = operand_positions(f, i);
  for (size_t k = 0; k < kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (positions[k] < 0) continue;
    const Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
    if (row.operands[k].access != Access::write) add(f, o, r.reads);
    if (row.operands[k].access != Access::read) add(f, o, r.writes);
  }
  if (i.guard == kNoReg) return r;
  r.reads.push_back(i.guard);
  r.reads.insert(r.reads.end(), r.writes.begin(), r.writes.end());
  return r;
}

std::vector<Registers> registers_of(const Function& f) {
  std::vector<Registers> out;
  for (const Instruction& i : f.body) out.push_back(registers_of(f, i));
  return out;
}

std::vector<uint8_t> unused_instructions(const Function& f, const std::vector<Registers>& registers) {
  std::vector<uint8_t> out(f.body.size());
  Readers readers(f, registers);
  for (bool found = true; found;) {
    found = false;
    for (auto i = static_cast<uint32_t>(f.body.size()); i-- > 0;) {
      if (out[i] != 0 || !only_computes(f.body[i]) || !readers.none_of(i)) continue;
      out[i] = 1;
      readers.forget(i);
      found = true;
    }
  }
  return out;
}

std::vector<uint8_t> unread_results(const Function& f, const std::vector<Registers>& registers) {
  const Readers readers(f, registers);
  std::vector<uint8_t> out(f.body.size());
  for (uint32_t i = 0; i < out.size(); ++i) out[i] = readers.none_of(i) ? 1 : 0;
  return out;
}

}  // namespace drywell::isa
