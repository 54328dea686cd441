// Tensor maps as memory that instructions edit, copy and fence.
#pragma once

#include "drywell/sim/space.h"
#include "sim/exec/exec.h"

namespace drywell::sim {

/// False, with `result` set to the fault, if a tensor map cannot be at `address`.
bool check_tensormap_alignment(Warp& w, uint64_t address, Effect& result);

/// Host pointer to the tensor map at `address`. If it is outside memory or misaligned, returns nullptr and sets `result` to
/// the fault.
uint8_t* tensormap_bytes(Warp& w, Space space, uint64_t address, uint32_t lane, Effect& result);

}  // namespace drywell::sim
