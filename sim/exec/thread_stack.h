// The part of a thread's stack that alloca takes (PTX ISA 9.7.16). It has its own addresses, above those of the frames, because a lane may take
// more than its neighbours, with which it shares its frames.
#pragma once

#include "sim/exec/call.h"

namespace drywell::sim {

/// The address of a lane's first alloca: no frame reaches it.
inline constexpr uint64_t kStackBase = kMaxLocalBytes;

/// Host pointer to `bytes` at `address`, which is at least kStackBase, or nullptr if the lane has not taken all of them.
uint8_t* stack_pointer(Warp& w, uint32_t lane, uint64_t address, uint64_t bytes);

/// The most that a lane of the warp has taken, in bytes.
uint64_t deepest_stack(const Warp& w);

/// The lanes return from the running function: what it took is free.
void free_stack(Warp& w, LaneMask mask);

}  // namespace drywell::sim
