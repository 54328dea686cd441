#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void cvt_x4(const InstructionRef& i, LegalityReport& out) {
  if (i.operand("a")->count != 4) out.error("E1310", "the x4 forms take a vector of four registers");
}

}  // namespace drywell::isa::legality
