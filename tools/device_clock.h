// What a kernel's launches take on a GPU and under the timed driver, both by the kernel's own clock stamps.
#pragma once

#include <vector>

#include "kernels/microbench/stopwatch.h"
#include "kernels/registry.h"

namespace drywell::tools {

struct ClockedRuns {
  std::vector<kernels::microbench::Elapsed> gpu, simulated;  // by launch
  bool any() const { return !gpu.empty(); }
};

/// Runs `kernel` once on `gpu`, each launch `repeats` times (the fastest counts, L2 cold), and once under the timed driver.
ClockedRuns clock_kernel(const kernels::Kernel& kernel, kernels::RunContext context, kernels::Accelerator& gpu, unsigned repeats);

}  // namespace drywell::tools
