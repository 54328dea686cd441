#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

constexpr int64_t kSwizzle96 = 4;  // 96 bytes, sm_103a

// Largest immediate of a field (PTX ISA 9.7.9.28, table "tensormap new_val validity", as ptxas accepts it).
int64_t largest_value(Mod field) {
  switch (field) {
    case Mod::elemtype: return 15;
    case Mod::interleave_layout: return 2;
    case Mod::fill_mode: return 1;
    case Mod::swizzle_mode: return kSwizzle96;
    default: return 3;
  }
}

}  // namespace

void tensormap_replace(const InstructionRef& i, LegalityReport& out) {
  const Mod field = i.mod(Slot::field);
  const bool wide = field == Mod::global_address || field == Mod::global_stride;
  if ((i.mod(Slot::type) == Mod::b64) != wide)
    out.error(Code::E1395, fmt::format(".{} takes .{} values", mod_text(field), wide ? "b64" : "b32"));
  if (const Operand* ord = i.operand("ord"); ord != nullptr && (ord->value < 0 || ord->value > 4))
    out.error(Code::E1396, fmt::format("ordinal {} is outside 0..4", ord->value));
  const Operand& value = *i.operand("value");
  const bool enumerated = i.row().slots[1].admits(Mod::elemtype);
  if (enumerated && (value.value < 0 || value.value > largest_value(field)))
    out.error(Code::E1397, fmt::format("{} has no meaning for .{}", value.value, mod_text(field)));
  if (enumerated && field == Mod::swizzle_mode && value.value == kSwizzle96 &&
      !(has_feature(i.module.target, Feature::sm103_only) && target_suffix(i.module.target) == 'a'))
    out.error(Code::E1210, "the 96-byte swizzle needs sm_103a");
  const bool late = field == Mod::swizzle_atomicity || (field == Mod::elemtype && value.value > 12);
  if (late && !has_feature(i.module.target, Feature::narrow))
    out.error(Code::E1210,
              fmt::format(".{} {} needs {}", mod_text(field), value.value, feature_name(Feature::narrow)));
}

void tensormap_size(const InstructionRef& i, LegalityReport& out) {
  if (i.operand("size")->value != 128) out.error(Code::E1398, "a tensor map has 128 bytes");
}

}  // namespace drywell::isa::legality
