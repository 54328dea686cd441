#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void setmaxnreg(const InstructionRef& i, LegalityReport& out) {
  const int64_t n = i.operand("count")->value;
  if (n < 24 || n > 256 || n % 8 != 0) out.error(Code::E1343, "a warp has 24 to 256 registers a thread, a multiple of 8");
}

void stack_alignment(const InstructionRef& i, LegalityReport& out) {
  const Operand* align = i.operand("align");
  if (align != nullptr && (align->value <= 0 || (align->value & (align->value - 1)) != 0)) out.error(Code::E1114, "the alignment of `alloca` is a power of two");
}

}  // namespace drywell::isa::legality
