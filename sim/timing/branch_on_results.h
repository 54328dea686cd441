// Whether a kernel's control flow depends on results of the tensor core.
#pragma once

#include <optional>

#include "sim/timing/timed_program.h"

namespace drywell::sim {

/// Line (index in TimedProgram::lines) of a branch, or an exit, whose guard is computed from registers that `tcgen05.ld` or `wgmma` fills;
/// nothing if there is none. Follows registers, not memory.
std::optional<uint32_t> branch_on_results(const TimedProgram& program);

}  // namespace drywell::sim
