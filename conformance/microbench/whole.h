// Whole kernels of the registry as benchmarks: the time of a GPU next to the timed driver's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/microbench/record.h"
#include "conformance/microbench/stopwatch.h"

namespace drywell::kernels::microbench {

struct WholeKernel {
  std::string name;  // "kernel.tma-copy.4096"; its meaning never changes
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> params;
};

/// Returns the kernels that a Hopper GPU can run: a copy pipeline, a quantize kernel, a WGMMA GEMM; each at a small size and at
/// one that fills the machine.
std::vector<WholeKernel> whole_kernels();

/// Times the kernel's launch on `device`; `repeats` and `caches` as in Stopwatch. Throws InputError E4505 if it faults.
Elapsed measure(const WholeKernel& w, Accelerator& device, const std::string& arch, const sim::RunOptions& options, unsigned repeats = 0,
                Caches caches = Caches::cold);

/// A GPU's time and the simulator's.
struct WholeComparison {
  std::string name;
  Elapsed measured, simulated;
  /// |simulated / measured - 1|, in cycles.
  double error() const;
};
/// Simulates every kernel of `r` that is in `known`, under the timed driver of `arch`.
std::vector<WholeComparison> compare(const Record& r, const std::vector<WholeKernel>& known, const std::string& arch);

}  // namespace drywell::kernels::microbench
