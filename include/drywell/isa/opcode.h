// The enumerators of Opcode, one per row of the instruction table.
#pragma once

#include <cstddef>

#include "drywell/isa/spec.h"

namespace drywell::isa {

enum class Opcode : uint16_t {
#define INSTR(OP_, ...) OP_,
#include "drywell/isa/table/all.inc"
#undef INSTR
  count_
};
inline constexpr size_t kOpcodeCount = static_cast<size_t>(Opcode::count_);

}  // namespace drywell::isa
