// What the stand-in knows, or wants to know, and CUDA has no call for. Benchmarks and hooks of Python frameworks use it (python/boot).
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

std::vector<drywell::sim::MemoryPools::Range> ranges(const unsigned long long* ends, size_t count) {
  std::vector<drywell::sim::MemoryPools::Range> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = {ends[2 * i], ends[2 * i + 1]};
  return all;
}

}  // namespace

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

/// `ask` is called before each kernel launch from now on; it answers with drywellMemoryPools.
CudaError drywellAskForMemoryPools(void (*ask)()) {
  return serve_always("drywellAskForMemoryPools", [&](Context& c) { c.ask_for_pools = ask; });
}

/// What the program's allocator has and has handed out, for the next launch: first and last address of each, in their order.
CudaError drywellMemoryPools(const unsigned long long* pools, size_t pool_count, const unsigned long long* blocks, size_t block_count) {
  return serve_always("drywellMemoryPools", [&](Context& c) {
    if (c.has_device()) c.launcher().divide({ranges(pools, pool_count), ranges(blocks, block_count)});
  });
}

#pragma GCC visibility pop
}
