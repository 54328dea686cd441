// Reading PTX: fragments of matrix products, whose rows want registers, and in which ptxas takes constants and '_' beside registers.
#include "isa/parser.h"

namespace drywell::isa {

namespace {

Mod type_in(const OpcodeForm& form, Slot s) {
  const InstrSpec& row = spec(form.op);
  const int slot = row.slot_index(s);
  if (slot < 0 || form.mods[static_cast<size_t>(slot)] == 0) return Mod::none;
  return row.slots[static_cast<size_t>(slot)].mods[form.mods[static_cast<size_t>(slot)] - 1];
}

/// Read as a whole; scale factors are chosen by a pair of constants.
bool is_fragment(std::string_view operand) { return operand == "a" || operand == "b" || operand == "c" || operand == "r"; }

/// What ptxas 13.0 infers the type of a vector's elements from.
Mod registers_in(const Function& f, const Operand& vector) {
  for (const Operand& e : f.elements(vector)) {
    if (e.kind == Operand::Kind::reg) return f.regs[e.index].type;
  }
  return Mod::none;
}

bool is_integer(const Operand& constant) { return constant.imm_kind == ImmKind::decimal || constant.imm_kind == ImmKind::hex; }

/// Whether ptxas 13.0 takes the constant beside registers of that type.
bool fits_registers(Mod registers, const Operand& constant) {
  if (registers == Mod::none || type_bits(registers) != 32) return false;
  return registers != Mod::f32 || !is_integer(constant);
}

/// What ptxas 13.0 puts into a register of 32 bits for a double-precision literal: the lower half of its bits, not the rounded value
/// (nvcc writes zero so, 0d0000000000000000, where nothing uses the element).
Operand lower_word(Operand constant) {
  constant.imm_kind = ImmKind::hex;
  constant.value &= 0xFFFFFFFF;
  return constant;
}

/// Whether ptxas 13.0 takes the constant for a register of that fragment: of its elements' type, and A and B as words of bits.
bool fits_fragment(const OpcodeForm& form, std::string_view operand, const Operand& constant) {
  const bool sum = operand == "c";
  const Mod own = type_in(form, sum ? Slot::ctype : operand == "r" ? Slot::type
                                                : operand == "a"   ? Slot::atype
                                                                   : Slot::btype);
  const Mod type = own != Mod::none ? own : sum ? type_in(form, Slot::dtype)
                                                : Mod::none;
  if (type == Mod::f64) return constant.imm_kind == ImmKind::f64;
  if (sum || operand == "r") return type == Mod::f32 ? constant.imm_kind == ImmKind::f32 : type == Mod::s32 && is_integer(constant);
  return is_integer(constant);
}

bool reads_fragments(const InstrSpec& row) {
  const bool stores = row.memory == MemoryRole::fragment_store || row.memory == MemoryRole::matrix_store;
  return row.timing == TimingClass::mma_sync || stores || row.completion == Completion::wgmma_group;
}

bool writes_fragments(const InstrSpec& row) {
  return row.timing == TimingClass::mma_sync || row.memory == MemoryRole::fragment_load || row.memory == MemoryRole::matrix_load;
}

}  // namespace

// Constants go to registers first, and what '_' drops has a register that nothing reads.
void Parser::put_fragments_in_registers(const OpcodeForm& form, const Instruction& of, TextPos at) {
  const InstrSpec& row = spec(form.op);
  std::array<int8_t, kMaxOperands> positions;
  if ((!reads_fragments(row) && !writes_fragments(row)) || !match_operands(fn_, form, given_, positions)) return;
  for (size_t k = 0; k < row.operand_count(); ++k) {
    if (positions[k] < 0) continue;
    const Operand o = given_[static_cast<size_t>(positions[k])];
    if (o.kind != Operand::Kind::vec) continue;
    if (row.operands[k].access == Access::write) {
      if (writes_fragments(row)) drop_into_registers(o, at);
    } else if (reads_fragments(row) && is_fragment(row.operands[k].name)) {
      read_constants_first(form, row.operands[k].name, o, of, at);
    }
  }
}

void Parser::drop_into_registers(const Operand& vector, TextPos at) {
  const Mod type = registers_in(fn_, vector);
  if (type == Mod::none) return;
  for (uint32_t e = vector.index; e < vector.index + vector.count; ++e) {
    if (fn_.pool[e].kind == Operand::Kind::sink) fn_.pool[e] = Operand::reg(add_registers(names_.keep(std::string("%dropped")), false, 1, type, at));
  }
}

void Parser::read_constants_first(const OpcodeForm& form, std::string_view name, const Operand& vector, const Instruction& of, TextPos at) {
  const Mod registers = registers_in(fn_, vector);
  for (uint32_t e = vector.index; e < vector.index + vector.count; ++e) {
    Operand constant = fn_.pool[e];
    if (constant.kind != Operand::Kind::imm) continue;
    if (!fits_registers(registers, constant) && !fits_fragment(form, name, constant)) continue;
    if (fits_registers(registers, constant) && constant.imm_kind == ImmKind::f64) constant = lower_word(constant);
    const Operand read = in_register("%constant", constant.imm_kind == ImmKind::f64 ? Mod::b64 : Mod::b32, constant, of, at);
    fn_.pool[e] = read;
  }
}

}  // namespace drywell::isa
