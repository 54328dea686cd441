#include <fmt/format.h>

#include <bit>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// facts/tcgen05.md §1.2: ptxas checks immediates only, registers are checked at run time.
void tcgen05_alloc(const InstructionRef& i, LegalityReport& out) {
  const Operand& n = *i.operand("nCols");
  if (n.kind != Operand::Kind::imm) return;
  const bool alloc = i.row().mnemonic == "tcgen05.alloc";
  const auto v = static_cast<uint64_t>(n.value);
  if (alloc && (v < 32 || v > 512 || !std::has_single_bit(v))) out.error("E1370", fmt::format("{} columns cannot be allocated", v), "a power of two from 32 to 512");
  if (!alloc && (v == 0 || v > 512 || v % 32 != 0)) out.error("E1370", fmt::format("{} columns cannot be freed", v), "the number that was allocated");
}

// facts/tcgen05.md §4.5, §4.9.
void tcgen05_mma(const InstructionRef& i, LegalityReport& out) {
  const Mod kind = i.mod(Slot::kind), collector = i.mod(Slot::collector);
  const bool a_in_tmem = i.operand("a")->kind == Operand::Kind::addr;
  if (i.has(Mod::ashift)) {
    if (!a_in_tmem) out.error("E1371", ".ashift needs A in tensor memory");
    if (collector == Mod::collector_a_use || collector == Mod::collector_a_fill) out.error("E1372", ".ashift cannot go with collector use or fill");
    if (!has_feature(i.module.target, Feature::sm100a)) out.error("E1210", ".ashift needs sm_100a");
  }
  if (const Operand* mask = i.operand("disable"); mask != nullptr) {
    const unsigned want = i.has(Mod::cta_group_1) ? 4 : 8;
    if (mask->count != want) out.error("E1373", fmt::format("the disable-output-lane vector has {} words here", want));
  }
  if (const Operand* s = i.operand("scale_d"); s != nullptr) {
    if (kind == Mod::kind_f8f6f4) out.error("E1374", "scale-input-d is for kind::f16 and kind::tf32");
    if (s->value < 0 || s->value > 15) out.error("E1374", "scale-input-d is 0 to 15");
  }
  if (kind == Mod::kind_i8 && !has_feature(i.module.target, Feature::sm100a_only)) out.error("E1210", "kind::i8 needs sm_100a");
}

// facts/tcgen05.md §2.1.
void tcgen05_ld_st(const InstructionRef& i, LegalityReport& out) {
  const Mod shape = i.mod(Slot::shape);
  const unsigned n = 1u << (static_cast<unsigned>(i.mod(Slot::num)) - static_cast<unsigned>(Mod::x1));
  const unsigned per = shape == Mod::_16x256b ? 4 : shape == Mod::_16x128b ? 2 : 1;
  if (n * per > 128) out.error("E1375", fmt::format(".x{} is too many for .{}", n, mod_text(shape)));
  if (const unsigned given = i.operand("r")->count; given != n * per) {
    out.error("E1376", fmt::format(".{}.x{} takes {} registers, {} given", mod_text(shape), n, n * per, given));
  }
  if ((i.operand("split") != nullptr) != (shape == Mod::_16x32bx2)) out.error("E1377", "the half-split immediate goes with .16x32bx2");
}

}  // namespace drywell::isa::legality
