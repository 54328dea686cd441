#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void setmaxnreg(const InstructionRef& i, LegalityReport& out) {
  const int64_t n = i.operand("count")->value;
  if (n < 24 || n > 256 || n % 8 != 0) out.error(Code::E1343, "a warp has 24 to 256 registers a thread, a multiple of 8");
}

}  // namespace drywell::isa::legality
