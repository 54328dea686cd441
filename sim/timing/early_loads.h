// ptxas issues the loads of a basic block as early as it can, so that their latencies overlap; PTX has them
// where the compiler wrote them. The timed driver runs kernels in the order that this pass makes: each load,
// and the arithmetic of its address, moves up within its block over instructions that it does not depend on.
// No instruction moves over a branch, a barrier, a fence, an atomic operation or a store that may write what
// it reads, so a kernel computes the same (docs/lab/calibration.md, "What ptxas does in between").
#pragma once

#include "drywell/isa/instruction.h"

namespace drywell::sim {

/// Returns the module with the instructions of every function in that order. Labels and lines stay where they
/// are.
isa::Module with_early_loads(isa::Module module);

}  // namespace drywell::sim
