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
/// A type for each row: what is specialised for a row carries its name, and so does the linker's message if it is missing.
namespace row {
#define INSTR(OP_, ...) struct OP_;
#include "drywell/isa/table/all.inc"
#undef INSTR
}  // namespace row

/// The table file the row is in, without path and ending: "tcgen05_mma".
std::string_view opcode_family(Opcode op);
inline constexpr size_t kOpcodeCount = static_cast<size_t>(Opcode::count_);

}  // namespace drywell::isa
