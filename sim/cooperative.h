// Cooperative launches: all CTAs of the grid run at the same time. %envreg1 and %envreg2 hold the address of the memory of
// the grid's barrier for cooperative groups.
#pragma once

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Runs a launch with the runner of `options`, or with its driver.
RunResult run_launch(const Launch& launch, const RunOptions& options);
/// The same with all CTAs at once. The caller has checked that the grid fits.
RunResult run_cooperatively(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
