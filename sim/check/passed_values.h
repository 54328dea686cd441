// Calls and returns copy parameters between frames without an access: which of their bytes have a value goes with them.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// `mask` has executed a call or a return of a function.
void pass_values(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);

/// Whether the store is to a parameter, or to a result, that is an array: compilers pass structures so, with bytes that nobody has written.
bool passes_structure(const Program& p, const DecodedOp& op);

}  // namespace drywell::sim::check
