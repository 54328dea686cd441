// Declarations shared by the warp-level matrix instructions.
#pragma once

#include "sim/exec/exec.h"

namespace drywell::sim {

/// Faults unless all 32 lanes execute the instruction.
Effect need_full_warp(Warp& w, LaneMask mask);

/// True for an stmatrix, not executed yet, that stores the bytes that the memory has.
bool matrix_is_there(const Warp& w, const DecodedOp& op);

}  // namespace drywell::sim
