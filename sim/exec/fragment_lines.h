// The lines of memory that a wmma load or store moves: rows of a row-major matrix, columns of a column-major one.
#pragma once

#include "drywell/sim/access.h"
#include "sim/state/warp.h"

namespace drywell::sim {

/// Puts the address of each line into `out`, one a lane, and says how many there are and how long they are.
void fragment_lines(const Warp& w, const DecodedOp& op, LaneAddresses& out);

}  // namespace drywell::sim
