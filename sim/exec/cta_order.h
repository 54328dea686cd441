// Whether a kernel's results depend on the order in which its CTAs run.
#pragma once

#include "sim/state/program.h"

namespace drywell::sim {

/// True if CTAs reduce global memory with operations that commute, and a strong load may see how many of them have: the order of CTAs
/// decides. Without such a load the sums at the end of the launch are the only result, and those are the same in any order.
bool looks_at_reductions(const Program& p);

}  // namespace drywell::sim
