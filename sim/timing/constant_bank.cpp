#include "sim/timing/constant_bank.h"

#include <algorithm>

#include "drywell/isa/registers.h"
#include "drywell/isa/spec.h"

namespace drywell::sim {
namespace {

using isa::Operand;

// mov of an address or a constant, cvta, and sums of such.
bool passes_on(const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  return row.memory == isa::MemoryRole::none && (row.timing == isa::TimingClass::move || isa::is_sum(row.fold)) && i.guard == isa::kNoReg;
}

}  // namespace

ConstantBank::ConstantBank(const isa::Function& f) : known_(f.regs.size(), 0) {
  std::vector<uint32_t> written(f.regs.size(), 0);
  for (const isa::Instruction& i : f.body)
    for (const isa::RegId r : isa::registers_of(f, i).writes) ++written[r];
  const auto is_known = [&](const Operand& o) { return o.kind == Operand::Kind::imm || o.kind == Operand::Kind::symbol || (o.kind == Operand::Kind::reg && known_[o.index] != 0); };
  for (const isa::Instruction& i : f.body) {
    const auto operands = f.operands(i);
    if (operands.size() < 2 || operands[0].kind != Operand::Kind::reg || written[operands[0].index] != 1 || !passes_on(i)) continue;
    known_[operands[0].index] = std::all_of(operands.begin() + 1, operands.end(), is_known);
  }
}

bool ConstantBank::is_indexed(const isa::Function& f, const isa::Instruction& i) const {
  const auto operands = f.operands(i);
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.kind == Operand::Kind::addr && o.base == Operand::Base::reg && known_[o.index] == 0; });
}

}  // namespace drywell::sim
