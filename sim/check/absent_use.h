// Uses of values that came from no lane, or from unwritten local memory (absent_values.h): as an address, in memory, as the condition of a branch.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// A load, store or atomic of that space, about to be executed by `mask`.
void check_absent_operands(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space);
/// Any instruction that `mask` has executed, or whose guard excluded all of `mask`.
void check_absent_branch(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);

}  // namespace drywell::sim::check
