#include "sim/timing/double_constants.h"

#include "drywell/isa/spec.h"

namespace drywell::sim {
namespace {

using isa::Operand;

bool is_move_of_a_constant(const isa::Function& f, const isa::Instruction& i) {
  const auto operands = f.operands(i);
  return isa::spec(i.op).timing == isa::TimingClass::move && operands.size() == 2 && operands[0].kind == Operand::Kind::reg && operands[1].kind == Operand::Kind::imm;
}

bool has_a_lower_word(uint64_t bits) { return (bits & 0xFFFFFFFFu) != 0; }

}  // namespace

DoubleConstants::DoubleConstants(const isa::Function& f) {
  for (const isa::Instruction& i : f.body) {
    if (i.mod(isa::Slot::type) != isa::Mod::f64 || !is_move_of_a_constant(f, i)) continue;
    of_register_[f.operands(i)[0].index] = static_cast<uint64_t>(f.operands(i)[1].value);
  }
}

uint8_t DoubleConstants::new_words(const isa::Function& f, const isa::Instruction& i) {
  uint8_t words = 0;
  for (const Operand& o : f.operands(i)) {
    const auto known = o.kind == Operand::Kind::reg ? of_register_.find(o.index) : of_register_.end();
    if (o.kind != Operand::Kind::imm && known == of_register_.end()) continue;
    const uint64_t bits = o.kind == Operand::Kind::imm ? static_cast<uint64_t>(o.value) : known->second;
    if (has_a_lower_word(bits) && there_.insert(bits).second) words += 2;
  }
  return words;
}

}  // namespace drywell::sim
