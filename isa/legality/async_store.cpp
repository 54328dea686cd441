#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

bool is_bitwise(Mod op) { return op == Mod::and_ || op == Mod::or_ || op == Mod::xor_; }

// ptxas accepts 64-bit elements only for sums.
bool reduces(Mod op, Mod type) {
  if (type_bits(type) == 64) return op == Mod::add && type != Mod::b64;
  if (is_bitwise(op)) return type == Mod::b32;
  if (op == Mod::inc || op == Mod::dec) return type == Mod::u32;
  return type != Mod::b32;
}

}  // namespace

void st_async(const InstructionRef& i, LegalityReport& out) {
  const Mod vec = i.mod(Slot::vec), sem = i.mod(Slot::sem);
  const unsigned lanes = vec == Mod::v2 ? 2 : vec == Mod::v4 ? 4
                                                             : 1;
  const Operand& b = *i.operand("b");
  const unsigned given = b.kind == Operand::Kind::vec ? b.count : 1;
  if (given != lanes)
    out.error(Code::E1330,
              fmt::format("{} values for .{}", given, vec == Mod::none ? "a scalar" : mod_text(vec)));
  if (lanes * type_bits(i.mod(Slot::type)) > 128) out.error(Code::E1331, "at most 128 bits in one access");
  if (b.kind == Operand::Kind::vec) {
    for (const Operand& e : i.function.elements(b)) {
      if (e.kind == Operand::Kind::reg &&
          type_bits(i.function.regs[e.index].type) != type_bits(i.mod(Slot::type)))
        out.error(Code::E1201, "the registers have the width of the type");
    }
  }
  if ((sem == Mod::release) != (i.mod(Slot::scope) != Mod::none))
    out.error(Code::E1332, "a scope goes with .release");
  if (i.has(Mod::mmio) && sem != Mod::release) out.error(Code::E1332, ".mmio goes with .release");
}

void red_async(const InstructionRef& i, LegalityReport& out) {
  const Mod op = i.mod(Slot::op), type = i.mod(Slot::type);
  if (!reduces(op, type))
    out.error(Code::E1366, fmt::format("no .{} reduction of .{}", mod_text(op), mod_text(type)));
}

}  // namespace drywell::isa::legality
