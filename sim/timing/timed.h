// The timing driver: the same instructions and engine moments as the functional drivers, at the cycles of the
// machine model (docs/function-vs-time.md).
#pragma once

#include "drywell/sim/run.h"
#include "sim/state/cta.h"

namespace drywell::sim {

RunResult run_timed(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
