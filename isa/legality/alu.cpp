#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void add_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::sat) && i.mod(Slot::type) != Mod::s32) out.error(Code::E1301, ".sat needs .s32", "saturate with min/max");
}

void mad_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::sat) && !(i.has(Mod::hi) && i.mod(Slot::type) == Mod::s32)) out.error(Code::E1301, ".sat needs .hi.s32");
}

void minmax_int(const InstructionRef& i, LegalityReport& out) {
  const Mod type = i.mod(Slot::type);
  if (i.has(Mod::relu) && type != Mod::s32 && type != Mod::s16x2) out.error(Code::E1302, ".relu needs .s32 or .s16x2");
  if ((type == Mod::u16x2 || type == Mod::s16x2) && !has_feature(i.module.target, Feature::sm90)) out.error(Code::E1210, "packed 16-bit integers need sm_90 or later");
}

void minmax_f32(const InstructionRef& i, LegalityReport& out) {
  const bool three = i.operand("c") != nullptr;
  if (!three && i.has(Mod::xorsign) != i.has(Mod::abs)) out.error(Code::E1303, ".xorsign and .abs go together");
  if (three && i.has(Mod::xorsign)) out.error(Code::E1303, "the three-input form takes no .xorsign");
  if (three && !has_feature(i.module.target, Feature::sm100)) out.error(Code::E1210, "the three-input form needs sm_100 or later");
}

}  // namespace drywell::isa::legality
