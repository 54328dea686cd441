#include <fmt/format.h>

#include <bit>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void tmem_address_width(const InstructionRef& i, LegalityReport& out, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Operand* o = i.operand(name);
    if (o == nullptr || o->kind != Operand::Kind::addr || o->base != Operand::Base::reg) continue;
    if (type_bits(i.function.regs[o->index].type) != 32) {
      out.error(Code::E1392, fmt::format("tensor-memory address '{}' is not a 32-bit register", i.function.regs[o->index].name));
    }
  }
}

// docs/facts/tcgen05.md §1.2: ptxas checks immediates only, registers are checked at run time.
void tcgen05_alloc(const InstructionRef& i, LegalityReport& out) {
  const Operand& n = *i.operand("nCols");
  if (n.kind != Operand::Kind::imm) return;
  const bool alloc = i.row().mnemonic == "tcgen05.alloc";
  const auto v = static_cast<uint64_t>(n.value);
  if (alloc && (v < 32 || v > 512 || !std::has_single_bit(v))) out.error(Code::E1370, fmt::format("{} columns cannot be allocated", v), "a power of two from 32 to 512");
  if (!alloc && (v == 0 || v > 512 || v % 32 != 0)) out.error(Code::E1370, fmt::format("{} columns cannot be freed", v), "the number that was allocated");
}

namespace {
/// Of ld.red; ptxas takes the register also as a vector of one, and Triton writes it so.
void reduced_value(const InstructionRef& i, LegalityReport& out) {
  const Operand* red = i.operand("red");
  if (red != nullptr && red->kind == Operand::Kind::vec && red->count != 1) out.error(Code::E1330, fmt::format("the minimum or maximum is one value, {} given", red->count));
}
}  // namespace

// docs/facts/tcgen05.md §2.1.
void tcgen05_ld_st(const InstructionRef& i, LegalityReport& out) {
  const Mod shape = i.mod(Slot::shape);
  const unsigned n = 1u << (static_cast<unsigned>(i.mod(Slot::num)) - static_cast<unsigned>(Mod::x1));
  const unsigned per = shape == Mod::_16x256b ? 4 : shape == Mod::_16x128b ? 2
                                                                           : 1;
  if (n * per > 128) out.error(Code::E1375, fmt::format(".x{} is too many for .{}", n, mod_text(shape)));
  if (const unsigned given = i.operand("r")->count; given != n * per) {
    out.error(Code::E1376, fmt::format(".{}.x{} takes {} registers, {} given", mod_text(shape), n, n * per, given));
  }
  tmem_address_width(i, out, {"taddr"});
  const bool load = i.row().operands[0].access == Access::write;
  for (const Operand& e : i.function.elements(*i.operand("r"))) {
    const bool fits = e.kind == Operand::Kind::reg ? type_bits(i.function.regs[e.index].type) == 32 : !load && e.kind == Operand::Kind::imm;
    if (!fits) out.error(Code::E1391, load ? "the destinations are 32-bit registers" : "the sources are 32-bit registers and immediates");
  }
  reduced_value(i, out);
  if ((i.has(Mod::abs) || i.has(Mod::NaN)) && i.mod(Slot::type) != Mod::f32) out.error(Code::E1389, ".abs and .NaN go with .f32");
  if ((i.operand("split") != nullptr) != (shape == Mod::_16x32bx2)) out.error(Code::E1377, "the half-split immediate goes with .16x32bx2");
}

}  // namespace drywell::isa::legality
