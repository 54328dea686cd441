// Registers of a thread when a kernel starts: one rule for setmaxnreg, numRegs, occupancy and the timed driver.
#pragma once

#include <cstdint>

#include "sim/state/program.h"

namespace drywell::sim {

/// The number from which setmaxnreg counts, as ptxas 13.0 takes it (docs/deviations.md, "Memory and order"); 0 where it takes none, and
/// setmaxnreg has no effect.
uint32_t known_registers(const Launch& launch);
/// known_registers() of a kernel with setmaxnreg; otherwise an estimate (drywell/isa/register_estimate.h), at most what directives allow.
uint32_t entry_registers(const Launch& launch);

}  // namespace drywell::sim
