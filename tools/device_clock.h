// Times of a kernel's launches on a GPU and under the timed driver, both by the kernel's own clock stamps.
#pragma once

#include <string>
#include <vector>

#include "conformance/microbench/stopwatch.h"
#include "kernels/registry.h"
#include "tools/common/command.h"

namespace drywell::tools {

struct ClockedRuns {
  std::vector<kernels::microbench::Elapsed> gpu, simulated;  // by launch
  bool any() const { return !gpu.empty(); }
};

/// Runs `kernel` once on `gpu`, each launch `repeats` times (the result is the fastest, L2 cold), and once under the timed
/// driver.
ClockedRuns clock_kernel(const kernels::Kernel& kernel, kernels::RunContext context, kernels::Accelerator& gpu, unsigned repeats);

/// Runs the simulator's part only; needs no GPU.
std::vector<kernels::microbench::Elapsed> clock_simulated(const kernels::Kernel& kernel, kernels::RunContext context, const std::string& arch);

/// `drywell device reclock`.
void register_device_reclock(Command& device, CommandContext& context);

}  // namespace drywell::tools
