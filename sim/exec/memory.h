// Address resolution for every state space; used by loads, stores, atomics and the copy instructions.
#pragma once

#include "drywell/sim/space.h"
#include "sim/exec/exec.h"

namespace drywell::sim {

/// State space of an instruction's space modifier; no modifier = generic. .const is in global memory.
Space space_of(isa::Mod m);

/// Host pointer to `bytes` at `address` as seen by `lane`, or nullptr if any of it is outside.
uint8_t* resolve(Warp& w, Space space, uint64_t address, uint64_t bytes, uint32_t lane, const Gmem::Allocation*& hint);

/// Faults with the reason why [address, address + bytes) cannot be accessed.
Effect access_fault(Warp& w, Space space, uint64_t address, uint64_t bytes, uint32_t lane, bool store);

}  // namespace drywell::sim
