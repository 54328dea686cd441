// What lanes of one store that meet in one place write there.
#pragma once

#include "sim/exec/exec.h"

namespace drywell::sim {

/// Whether the words of lanes of one store, not executed yet, that have one address are floats of 32 bits, or pairs of them, which differ by their rounding only.
/// The lanes are those of lanes_that_collide(). Whole numbers whose bits are such floats cannot be told from them.
bool lanes_differ_by_rounding(const Warp& w, const DecodedOp& op, LaneMask lanes);
/// Whether two lanes of a store, not executed yet, store different values in its element `k`.
bool element_differs(const Warp& w, const DecodedOp& op, uint32_t k, uint32_t one, uint32_t other);

}  // namespace drywell::sim
