// What the stand-in knows and CUDA has no call for. Benchmarks of Python frameworks ask for it (python/boot).
#include "cudart/serve.h"

using namespace drywell::cudart;

extern "C" {
#pragma GCC visibility push(default)

/// Writes the simulated seconds of all kernels so far, without launch latencies; not a number without the
/// timed driver.
CudaError drywellKernelSeconds(double* out) {
  return serve("drywellKernelSeconds", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.launcher().kernel_seconds();
  });
}

/// Writes how many kernels have run so far.
CudaError drywellKernelLaunches(unsigned long long* out) {
  return serve("drywellKernelLaunches", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.launcher().records().size();
  });
}

#pragma GCC visibility pop
}
