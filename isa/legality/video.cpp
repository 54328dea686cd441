#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

/// The elements of a selector may come from `numbered` bytes or half-words of the unit.
bool is_of(const Subword& s, Subword::Unit unit, unsigned numbered) {
  for (unsigned k = 0; k < s.count; ++k) {
    if (s.unit != unit || s.element(k) >= numbered) return false;
  }
  return true;
}

void refuse(const Operand& o, LegalityReport& out) {
  out.error(Code::E1480, "this operand has no part '." + subword_text(o.part) + "'");
}

void one_part(const InstructionRef& i, LegalityReport& out, const char* operand) {
  const Operand& o = *i.operand(operand);
  const bool half = o.part.unit == Subword::Unit::half;
  if (o.part.count > 1 || !is_of(o.part, o.part.unit, half ? 2 : 4)) refuse(o, out);
}

bool falls(const Subword& s) {
  for (unsigned k = 1; k < s.count; ++k) {
    if (s.element(k) <= s.element(k - 1)) return false;
  }
  return true;
}

}  // namespace

// PTX ISA 9.7.17; ptxas takes c without an operation or a selector, too.
void scalar_video(const InstructionRef& i, LegalityReport& out) {
  for (const char* operand : {"d", "a", "b"}) one_part(i, out, operand);
  const bool merges = !i.operand("d")->part.whole(), operates = i.mod(Slot::op) != Mod::none, third = i.operand("c") != nullptr;
  if (merges && operates) out.error(Code::E1481, "a secondary operation has a whole register as its result");
  if ((merges || operates) && !third) out.error(Code::E1481, "the operand c is missing");
}

// PTX ISA 9.7.18.
void vector_video(const InstructionRef& i, LegalityReport& out) {
  const bool four = i.row().mnemonic.back() == '4';
  const Subword::Unit unit = four ? Subword::Unit::byte : Subword::Unit::half;
  const unsigned elements = four ? 4 : 2;
  const Operand& d = *i.operand("d");
  if (!is_of(d.part, unit, elements) || !falls(d.part)) refuse(d, out);
  for (const char* operand : {"a", "b"}) {
    const Operand& o = *i.operand(operand);
    if (!o.part.whole() && (o.part.count != elements || !is_of(o.part, unit, 2 * elements))) refuse(o, out);
  }
}

// PTX ISA 9.7.17.3.
void vmad(const InstructionRef& i, LegalityReport& out) {
  for (const char* operand : {"a", "b"}) one_part(i, out, operand);
  const bool product = i.operand("a")->minus != i.operand("b")->minus, any = i.operand("a")->minus || i.operand("b")->minus || i.operand("c")->minus;
  if (product && i.operand("c")->minus) out.error(Code::E1482, "either the product or c is negated");
  if (any && i.has(Mod::po)) out.error(Code::E1482, "nothing is negated with .po");
}

}  // namespace drywell::isa::legality
