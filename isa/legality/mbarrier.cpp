#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

void check_order(const InstructionRef& i, LegalityReport& out) {
  if ((i.mod(Slot::sem) == Mod::none) != (i.mod(Slot::scope) == Mod::none))
    out.error(Code::E1350, ".sem and .scope go together");
}

void check_no_complete(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::shared_cluster)) out.error(Code::E1351, ".noComplete is for the own CTA's barriers");
  if (i.has(Mod::relaxed) || i.has(Mod::cluster)) out.error(Code::E1354, ".noComplete is .release.cta");
  if (i.operand("count") == nullptr) out.error(Code::E1359, ".noComplete needs a count");
}

}  // namespace

// docs/facts/tma-mbarrier.md §1.2; the immediate limits are ptxas's, register values are checked at run time.
void mbarrier(const InstructionRef& i, LegalityReport& out) {
  check_order(i, out);
  if (i.has(Mod::noComplete)) check_no_complete(i, out);
  const Operand *state = i.operand("state"), *count = i.operand("count");
  if (i.has(Mod::shared_cluster) && state != nullptr && state->kind != Operand::Kind::sink)
    out.error(Code::E1352, "a remote arrive returns no state", "write _");
  const bool arrives = i.row().mnemonic != "mbarrier.init";
  if (arrives && count != nullptr && count->kind == Operand::Kind::imm && count->value == 0)
    out.error(Code::E1353, "the arrival count is at least 1");
}

void mbarrier_wait(const InstructionRef& i, LegalityReport& out) {
  check_order(i, out);
  const Operand& phase = *i.operand("phase");
  if (i.has(Mod::parity) && phase.kind == Operand::Kind::imm && phase.value != 0 && phase.value != 1)
    out.error(Code::E1369, "a parity is 0 or 1");
}

}  // namespace drywell::isa::legality
