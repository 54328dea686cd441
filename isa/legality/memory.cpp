#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// mov packs and unpacks vectors whose elements add up to the instruction's width (PTX ISA 9.7.9.4).
void mov(const InstructionRef& i, LegalityReport& out) {
  const unsigned bits = type_bits(i.mod(Slot::type));
  const auto operands = i.operands();
  if (operands[0].kind == Operand::Kind::vec && operands[1].kind == Operand::Kind::vec) out.error("E1320", "mov takes one vector at most");
  for (const Operand& o : operands) {
    if (o.kind != Operand::Kind::vec) continue;
    unsigned sum = 0, each = o.count == 0 ? 0 : bits / o.count;
    for (const Operand& e : i.function.elements(o)) sum += e.kind == Operand::Kind::reg ? type_bits(i.function.regs[e.index].type) : each;
    if (sum != bits) out.error("E1321", fmt::format("the vector holds {} bits, the move is {} bits wide", sum, bits));
  }
}

void ld_st(const InstructionRef& i, LegalityReport& out) {
  const Mod vec = i.mod(Slot::vec), type = i.mod(Slot::type), sem = i.mod(Slot::sem), space = i.mod(Slot::space);
  const unsigned lanes = vec == Mod::v2 ? 2 : vec == Mod::v4 ? 4 : vec == Mod::v8 ? 8 : 1;
  const bool is_load = i.row().mnemonic == "ld";
  const Operand& data = *i.operand(is_load ? "d" : "b");
  const unsigned given = data.kind == Operand::Kind::vec ? data.count : 1;
  if (given != lanes) out.error("E1330", fmt::format("{} values for a .{} access", given, vec == Mod::none ? "scalar" : mod_text(vec)));
  const unsigned bits = lanes * type_bits(type);
  if (bits > 256 || (bits > 128 && (space != Mod::global || !has_feature(i.module.target, Feature::sm100)))) {
    out.error("E1331", fmt::format("{} bits in one access", bits), "at most 128; 256 only for .global on sm_100 and later");
  }
  if (bits == 256 && type_bits(type) < 32) out.error("E1331", "256-bit accesses take 32- or 64-bit elements");
  if (vec == Mod::v8 && type_bits(type) != 32) out.error("E1331", ".v8 takes 32-bit elements");
  const bool ordered = sem == Mod::relaxed || sem == Mod::acquire || sem == Mod::release;
  if (ordered != (i.mod(Slot::scope) != Mod::none)) out.error("E1332", "a scope goes with .relaxed, .acquire and .release");
  if (!is_load && (space == Mod::const_ || space == Mod::param_entry)) out.error("E1333", "this space cannot be written");
  const auto check = [&](const Operand& e) {
    if (e.kind == Operand::Kind::reg && type_bits(i.function.regs[e.index].type) < type_bits(type)) {
      out.error("E1201", fmt::format("register '{}' is narrower than .{}", i.function.regs[e.index].name, mod_text(type)));
    }
  };
  if (data.kind == Operand::Kind::vec) {
    for (const Operand& e : i.function.elements(data)) check(e);
  } else {
    check(data);
  }
}

void elect(const InstructionRef& i, LegalityReport& out) {
  if (i.operands()[0].kind != Operand::Kind::pair) out.error("E1340", "elect.sync writes d|p", "e.g. elect.sync _|%p1, 0xFFFFFFFF");
}

void named_barrier(const InstructionRef& i, LegalityReport& out) {
  const Operand *barrier = i.operand("a"), *count = i.operand("b");
  if (barrier->kind == Operand::Kind::imm && (barrier->value < 0 || barrier->value > 15)) out.error("E1341", "barriers are numbered 0 to 15");
  if (count != nullptr && count->kind == Operand::Kind::imm && (count->value <= 0 || count->value % 32 != 0)) {
    out.error("E1342", "the thread count is a positive multiple of 32");
  }
}

}  // namespace drywell::isa::legality
