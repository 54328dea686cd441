#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

bool is_bf16(const InstructionRef& i) {
  return i.mod(Slot::type) == Mod::bf16 || i.mod(Slot::type) == Mod::bf16x2;
}

void need_sm90(const InstructionRef& i, LegalityReport& out, std::string_view what) {
  if (!has_feature(i.module.target, Feature::sm90))
    out.error(Code::E1210, std::string(what) + " needs sm_90 or later");
}

}  // namespace

// bf16 has neither .ftz nor .sat; sums and products of bf16 need sm_90, fused ones do not.
void half_arith(const InstructionRef& i, LegalityReport& out) {
  if (is_bf16(i)) {
    if (i.has(Mod::ftz)) out.error(Code::E1304, ".ftz needs f16, not bf16");
    if (i.has(Mod::sat)) out.error(Code::E1301, ".sat needs f16, not bf16");
    const std::string_view name = i.row().mnemonic;
    if (name == "add" || name == "sub" || name == "mul") need_sm90(i, out, "bf16 arithmetic other than fma");
  }
  if (i.has(Mod::sat) && i.has(Mod::relu)) out.error(Code::E1301, ".sat and .relu exclude each other");
  if (i.has(Mod::xorsign) != i.has(Mod::abs)) out.error(Code::E1303, ".xorsign and .abs go together");
}

void half_approx(const InstructionRef& i, LegalityReport& out) {
  if (is_bf16(i)) need_sm90(i, out, "a bf16 approximation");
  if (i.row().slot_index(Slot::ftz) >= 0 && is_bf16(i) != i.has(Mod::ftz))
    out.error(Code::E1304, "ex2 of bf16 is always .ftz, of f16 never");
}

}  // namespace drywell::isa::legality
