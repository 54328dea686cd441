#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// facts/tma-mbarrier.md §1.2; the immediate limits are ptxas's, register values are checked at run time.
void mbarrier(const InstructionRef& i, LegalityReport& out) {
  if ((i.mod(Slot::sem) == Mod::none) != (i.mod(Slot::scope) == Mod::none)) out.error("E1350", ".sem and .scope go together");
  const Operand* state = i.operand("state");
  if (i.has(Mod::shared_cluster)) {
    if (i.has(Mod::noComplete)) out.error("E1351", ".noComplete is for the own CTA's barriers");
    if (state != nullptr && state->kind != Operand::Kind::sink) out.error("E1352", "a remote arrive returns no state", "write _");
  }
  const Operand* count = i.operand("count");
  if (i.row().mnemonic == "mbarrier.arrive" && count != nullptr && count->kind == Operand::Kind::imm && count->value == 0) {
    out.error("E1353", "the arrival count is at least 1");
  }
}

}  // namespace drywell::isa::legality
