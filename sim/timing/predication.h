// ptxas predicates the instructions that a short forward branch skips: no warp jumps over them, and every warp issues them. The timed
// driver runs kernels in that form; a kernel computes the same (docs/lab/calibration.md, "What ptxas does in between").
#pragma once

#include "drywell/isa/instruction.h"

namespace drywell::sim {

/// Returns the module with the short skips of every function predicated.
isa::Module with_predicated_skips(isa::Module module);

}  // namespace drywell::sim
