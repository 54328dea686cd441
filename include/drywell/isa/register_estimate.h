// Registers per thread of a kernel, estimated: PTX has no register allocation, but programs divide by the
// number.
#pragma once

#include <cstdint>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Returns the largest number of 32-bit registers whose values are needed at one place of the text, with what
/// ptxas adds and its rounding, without regard to directives. ptxas may need more (it moves instructions) or less (it
/// computes values again).
uint32_t estimated_registers(const Function& f);

}  // namespace drywell::isa
