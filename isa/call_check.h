// Calls against the prototype of what they call, as ptxas checks them.
#pragma once

#include "drywell/isa/instruction.h"
#include "drywell/isa/validate.h"

namespace drywell::isa {

/// Checks a call's arguments and results: number, state space, type, size and alignment. `i` is of a row with
/// Flow::call.
void check_call(const InstructionRef& i, LegalityReport& out);

}  // namespace drywell::isa
