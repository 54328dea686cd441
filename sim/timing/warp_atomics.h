// Atomic operations that ptxas makes once for a warp: where the address is the same for all lanes, it joins their values first (REDUX, or a count of the
// lanes), and one lane has the access (imm_uni, var_uni, max_uni and others of tests/corpus/timing/mechanisms/warp_atomics.cu, ptxas 13.0 for sm_90a).
#pragma once

#include "drywell/isa/instruction.h"
#include "sim/timing/block_motion.h"
#include "sim/timing/lanes_apart.h"

namespace drywell::sim {

/// Issue cycles of joining the values: a vote, the choice of a lane, and a sum over lanes or a count of them.
inline constexpr uint8_t kJoinOfLanes = 6;

bool is_one_for_the_warp(const isa::Function& f, const isa::Instruction& i, const Places& places, const LanesApart& lanes);

}  // namespace drywell::sim
