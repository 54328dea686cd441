// Special registers (PTX ISA 10).
#pragma once

#include "sim/exec/exec.h"

namespace drywell::sim {

/// Value of a special register for each of the warp's 32 lanes.
void read_special(const Warp& w, isa::SpecialReg r, uint64_t (&out)[kWarpSize]);

}  // namespace drywell::sim
