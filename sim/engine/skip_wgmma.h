// Completion of a wgmma whose product is not computed (RunOptions::values).
#pragma once

#include "sim/state/async_op.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// Releases the registers and the group as the write moment does; D is unchanged.
void end_without_product(Cluster& c, const AsyncOp& op, const Wgmma& m);

}  // namespace drywell::sim
