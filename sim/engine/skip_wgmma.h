// The end of a wgmma whose product nobody wants (RunOptions::values).
#pragma once

#include "sim/state/async_op.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// Registers and group are free as after the write moment; D is left as it was.
void end_without_product(Cluster& c, const AsyncOp& op, const Wgmma& m);

}  // namespace drywell::sim
