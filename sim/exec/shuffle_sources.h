// The lanes that a shuffle reads: whether each takes part.
#pragma once

#include <array>
#include <optional>

#include "drywell/core/types.h"
#include "sim/state/program.h"

namespace drywell::sim {

struct ShuffleSources {
  std::array<uint32_t, kWarpSize> lane{};  // that each executing lane reads: its own, where the other one is out of range
  LaneMask absent = 0;                     // lanes that read one that does not execute the shuffle
  LaneMask outside = 0;                    // lanes that read one that executes it and is not in their member mask
};

bool is_shuffle(const DecodedOp& op);
/// One result of the values of all member lanes: redux.
bool is_reduction_of_lanes(const DecodedOp& op);
/// The sources of a shuffle that `mask` has executed; none if its result took the place of another operand than the value.
std::optional<ShuffleSources> shuffle_sources(const Warp& w, const DecodedOp& op, LaneMask mask);

}  // namespace drywell::sim
