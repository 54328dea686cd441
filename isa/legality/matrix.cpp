#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void check_registers(const InstructionRef& i, LegalityReport& out, const char* operand, unsigned count, unsigned bits, bool is_float) {
  const Operand& o = *i.operand(operand);
  if (o.count != count) {
    out.error(Code::E1380, fmt::format("operand '{}' has {} registers here, {} given", operand, count, o.count));
    return;
  }
  for (const Operand& e : i.function.elements(o)) {
    if (e.kind != Operand::Kind::reg) {
      out.error(Code::E1381, fmt::format("operand '{}' consists of registers", operand));
      return;
    }
    const RegDecl& r = i.function.regs[e.index];
    if (type_bits(r.type) != bits) {
      out.error(Code::E1201, fmt::format("register '{}' of operand '{}' is .{}, {} bits are needed", r.name, operand, mod_text(r.type), bits));
    } else if (!is_float && is_float_type(r.type) && r.type != Mod::f16x2 && r.type != Mod::bf16x2) {
      out.error(Code::E1202, fmt::format("register '{}' of operand '{}' is .{}", r.name, operand, mod_text(r.type)), fmt::format("declare it .b{}", bits));
    }
  }
}

namespace {

unsigned matrices(const InstructionRef& i) { return 1u << (static_cast<unsigned>(i.mod(Slot::num)) - static_cast<unsigned>(Mod::x1)); }

}  // namespace

// PTX ISA 9.7.14.5.15.
void ldmatrix(const InstructionRef& i, LegalityReport& out) {
  const bool tall = i.mod(Slot::shape) == Mod::m16n16;
  if (tall && !i.has(Mod::trans)) out.error(Code::E1382, ".m16n16 needs .trans");
  if (i.mod(Slot::shape) == Mod::m8n16 && i.has(Mod::trans)) out.error(Code::E1382, ".m8n16 takes no .trans");
  if (tall && i.has(Mod::x4)) out.error(Code::E1383, ".m16n16 is .x1 or .x2");
  if (!out.failed()) check_registers(i, out, "r", matrices(i) * (tall ? 2 : 1), 32, true);
}

void stmatrix(const InstructionRef& i, LegalityReport& out) { check_registers(i, out, "r", matrices(i), 32, true); }

}  // namespace drywell::isa::legality
