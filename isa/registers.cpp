#include "drywell/isa/registers.h"

namespace drywell::isa {
namespace {

void add(const Function& f, const Operand& o, std::vector<RegId>& to) {
  using Kind = Operand::Kind;
  if (o.kind == Kind::reg || (o.kind == Kind::addr && o.base == Operand::Base::reg)) to.push_back(o.index);
  if (o.kind == Kind::vec || o.kind == Kind::tensor || o.kind == Kind::pair || o.kind == Kind::args) {
    for (const Operand& e : f.elements(o)) add(f, e, to);
  }
}

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

}  // namespace drywell::isa
