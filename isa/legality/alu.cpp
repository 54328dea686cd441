#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void add_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::sat) && i.mod(Slot::type) != Mod::s32) out.error("E1301", ".sat needs .s32", "saturate with min/max");
}

void mad_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::sat) && !(i.has(Mod::hi) && i.mod(Slot::type) == Mod::s32)) out.error("E1301", ".sat needs .hi.s32");
}

void minmax_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::relu) && i.mod(Slot::type) != Mod::s32) out.error("E1302", ".relu needs .s32");
}

void minmax_f32(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::xorsign) != i.has(Mod::abs)) out.error("E1303", ".xorsign and .abs go together");
  const bool three = i.operand("c") != nullptr;
  if (three && i.has(Mod::xorsign)) out.error("E1303", "the three-input form takes no .xorsign.abs");
  if (three && !has_feature(i.module.target, Feature::sm100)) out.error("E1210", "the three-input form needs sm_100 or later");
}

void setp(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::ftz) && i.mod(Slot::type) == Mod::f64) out.error("E1304", ".ftz needs .f32");
  const bool combines = i.mod(Slot::boolop) != Mod::none;
  if (combines != (i.operand("c") != nullptr)) out.error("E1305", "a predicate operand goes with .and, .or or .xor", "e.g. setp.lt.and.s32 p, a, b, q");
  const Mod cmp = i.mod(Slot::cmp), type = i.mod(Slot::type);
  const bool unsigned_only = cmp == Mod::lo || cmp == Mod::ls || cmp == Mod::hi || cmp == Mod::hs;
  const bool is_unsigned = type == Mod::u16 || type == Mod::u32 || type == Mod::u64;
  const bool untyped = type == Mod::b16 || type == Mod::b32 || type == Mod::b64;
  if (unsigned_only && !is_unsigned) out.error("E1306", "lo, ls, hi and hs compare unsigned types");
  if (untyped && cmp != Mod::eq && cmp != Mod::ne) out.error("E1306", "bit types only compare eq and ne");
}

}  // namespace drywell::isa::legality
