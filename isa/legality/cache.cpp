#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// Eviction priorities are for global memory (PTX ISA 9.7.9.15).
void prefetch(const InstructionRef& i, LegalityReport& out) {
  const Mod level = i.mod(Slot::level);
  if (i.mod(Slot::space) == Mod::local && (level == Mod::L2_evict_last || level == Mod::L2_evict_normal))
    out.error(Code::E1393, "an eviction priority goes with .global");
}

void cache_line(const InstructionRef& i, LegalityReport& out) {
  if (i.operand("size")->value != 128) out.error(Code::E1394, "the size is 128");
}

}  // namespace drywell::isa::legality
