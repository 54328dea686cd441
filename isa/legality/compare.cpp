#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

// set compares values of .stype; setp has one type only.
Mod compared_type(const InstructionRef& i) {
  const Mod source = i.mod(Slot::stype);
  return source != Mod::none ? source : i.mod(Slot::type);
}

void combination(const InstructionRef& i, LegalityReport& out) {
  const bool combines = i.mod(Slot::boolop) != Mod::none;
  if (combines != (i.operand("c") != nullptr))
    out.error(Code::E1305, "a predicate operand goes with .and, .or or .xor", "e.g. setp.lt.and.s32 p, a, b, q");
}

}  // namespace

void setp(const InstructionRef& i, LegalityReport& out) {
  const Mod cmp = i.mod(Slot::cmp), type = compared_type(i);
  if (i.has(Mod::ftz) && type == Mod::f64) out.error(Code::E1304, ".ftz needs .f32");
  combination(i, out);
  const bool unsigned_only = cmp == Mod::lo || cmp == Mod::ls || cmp == Mod::hi || cmp == Mod::hs;
  const bool is_unsigned = type == Mod::u16 || type == Mod::u32 || type == Mod::u64;
  const bool untyped = type == Mod::b16 || type == Mod::b32 || type == Mod::b64;
  if (unsigned_only && !is_unsigned) out.error(Code::E1306, "lo, ls, hi and hs compare unsigned types");
  if (untyped && cmp != Mod::eq && cmp != Mod::ne) out.error(Code::E1306, "bit types only compare eq and ne");
}

void setp_half(const InstructionRef& i, LegalityReport& out) {
  const Mod type = compared_type(i), result = i.mod(Slot::type);
  const bool bf16 = type == Mod::bf16 || type == Mod::bf16x2;
  if (i.has(Mod::ftz) && bf16) out.error(Code::E1304, ".ftz needs f16, not bf16");
  const bool same = result == type || (result == Mod::bf16 && type == Mod::f16);
  if (is_float_type(result) && !same)
    out.error(Code::E1306, "a comparison of halves gives halves of the same format, or integers");
  combination(i, out);
}

void slct(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::ftz) && i.mod(Slot::stype) != Mod::f32)
    out.error(Code::E1304, ".ftz needs a selector of type .f32");
}

}  // namespace drywell::isa::legality
