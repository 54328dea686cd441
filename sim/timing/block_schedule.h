// The order that ptxas gives the instructions of a basic block. It issues loads as early as it can, so that their latencies overlap,
// and fills the wait for a result with other instructions; PTX has both where the compiler wrote them. The timed driver runs kernels
// in the order that this pass makes: each load, and the arithmetic of its address, moves up over instructions that it does not depend
// on, and arithmetic is chosen by the length of what follows from it. Nothing moves over a branch, a barrier, a fence, an atomic
// operation or a store that may write what it reads, so a kernel computes the same (docs/lab/calibration.md, "What ptxas does in
// between").
#pragma once

#include "drywell/isa/instruction.h"
#include "drywell/sim/arch_config.h"

namespace drywell::sim {

/// Returns the module with the instructions of every function in that order. Labels and lines stay where they are.
isa::Module with_scheduled_blocks(isa::Module module, const ArchConfig& arch);

}  // namespace drywell::sim
