// Kernel attributes, the attributes that a program may set, and occupancy.
#pragma once

#include <functional>

#include "cudart/context.h"

namespace drywell::cudart {

/// Bytes of dynamic shared memory that a launch may have: 48 KiB minus the kernel's static shared memory, until the
/// program raises the limit.
uint32_t max_dynamic_smem(sim::Device& device, const Kernel& k, const sim::LoadedModule& m);
FuncAttributes attributes_of(Context& c, Kernel& k);
/// Throws CallFailed for an attribute that cannot be set, or a value out of range.
void set_attribute(Context& c, Kernel& k, int attribute, int value);
/// Number of CTAs of `threads` threads with `dynamic_smem` bytes that fit on an SM; 0 if none fits.
int ctas_per_sm(Context& c, Kernel& k, int threads, size_t dynamic_smem);
/// Block size with which most threads are resident on an SM, the largest of several, at most `limit` threads (0: any), and the CTAs that fill
/// the chip. `dynamic_smem`: bytes for a block of so many threads.
struct BlockChoice {
  int block = 0, grid = 0;
};
BlockChoice best_block(Context& c, Kernel& k, const std::function<size_t(int)>& dynamic_smem, int limit);
/// Bytes of dynamic shared memory per CTA if `ctas` CTAs run on an SM.
size_t available_smem(Context& c, Kernel& k, int ctas);
/// Number of clusters of this launch that run at once; 0 if none fits.
int max_clusters(Context& c, Kernel& k, const RuntimeLaunchConfig& config);
int max_cluster_size(Context& c, Kernel& k, const RuntimeLaunchConfig& config);

}  // namespace drywell::cudart
