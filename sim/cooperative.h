// Cooperative launches: every CTA of the grid runs at the same time, and cooperative groups find the memory of a barrier over
// the grid in %envreg1 and %envreg2.
#pragma once

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Runs a launch by the runner of `options`, or by its driver.
RunResult run_launch(const Launch& launch, const RunOptions& options);
/// The same with all CTAs at once. The caller has checked that the grid fits.
RunResult run_cooperatively(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
