// The enumerators of Opcode, one per row of the instruction table.
#pragma once

#include <cstddef>

#include "drywell/isa/spec.h"

namespace drywell::isa {

/// The rows of the table: one instruction form each.
enum class Opcode : uint16_t {
#define INSTR(OP_, ...) OP_,
#include "drywell/isa/table/all.inc"
#undef INSTR
  count_
};
/// One type per row: a template that is specialised for a row has the row's name in its symbol, so a linker error names
/// the row.
namespace row {
#define INSTR(OP_, ...) struct OP_;
#include "drywell/isa/table/all.inc"
#undef INSTR
}  // namespace row

/// Returns the name of the table file of the row, without path and extension: "tcgen05_mma".
std::string_view opcode_family(Opcode op);
/// Number of rows.
inline constexpr size_t kOpcodeCount = static_cast<size_t>(Opcode::count_);

}  // namespace drywell::isa
