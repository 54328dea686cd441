#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// PTX ISA 9.7.9.25.2.1.
void cp_async(const InstructionRef& i, LegalityReport& out) {
  const int64_t size = i.operand("cp_size")->value;
  if (size != 4 && size != 8 && size != 16) out.error(Code::E1348, fmt::format("{} bytes in one cp.async", size), "4, 8 or 16");
  if (i.has(Mod::cg) && size != 16) out.error(Code::E1348, ".cg copies 16 bytes");
  const Operand* source = i.operand("src_size");
  if (source != nullptr && source->kind == Operand::Kind::imm && (source->value < 0 || source->value > size)) {
    out.error(Code::E1349, fmt::format("src-size {} is not between 0 and {}", source->value, size));
  }
  if (source != nullptr && i.operand("ignore_src") != nullptr) out.error(Code::E1349, "src-size and ignore-src exclude each other");
}

}  // namespace drywell::isa::legality
