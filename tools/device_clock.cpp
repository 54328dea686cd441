#include "tools/device_clock.h"

namespace drywell::tools {
namespace {

using kernels::Accelerator;
using kernels::microbench::Caches;
using kernels::microbench::Stopwatch;

std::vector<kernels::microbench::Elapsed> clocked(const kernels::Kernel& kernel, kernels::RunContext context, Accelerator& device, unsigned repeats) {
  std::vector<kernels::microbench::Elapsed> out;
  Stopwatch watch(device, out, repeats, Caches::cold);
  context.machine = [&] { return std::make_unique<kernels::ForwardingAccelerator>(static_cast<kernels::Accelerator&>(watch)); };
  kernel.run(context);
  return out;
}

}  // namespace

ClockedRuns clock_kernel(const kernels::Kernel& kernel, kernels::RunContext context, Accelerator& gpu, unsigned repeats) {
  context.keep_outputs = false;
  ClockedRuns r;
  r.gpu = clocked(kernel, context, gpu, repeats);
  r.simulated = clock_simulated(kernel, context, std::string(gpu.arch().name));
  return r;
}

std::vector<kernels::microbench::Elapsed> clock_simulated(const kernels::Kernel& kernel, kernels::RunContext context, const std::string& arch) {
  context.keep_outputs = false;
  context.options.driver = sim::DriverKind::timed;
  context.options.values = false;
  kernels::SimulatedDevice simulator({.arch = arch});
  return clocked(kernel, context, simulator, 0);
}

}  // namespace drywell::tools
