// ptxas unrolls short loops with a counter by four, so that the loads of four passes are in flight together. The timed driver
// runs kernels in that form; a kernel computes the same (docs/lab/calibration.md, "What ptxas does in between").
#pragma once

#include "drywell/isa/instruction.h"

namespace drywell::sim {

/// Returns the module with such loops of every function unrolled. Copies of an instruction keep its line.
isa::Module with_unrolled_loops(isa::Module module);

}  // namespace drywell::sim
