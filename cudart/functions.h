// What kernels say of themselves, what a program may ask of them, and how many fit.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

/// Dynamic shared memory a launch may ask for: 48 KiB less what the kernel declares, until the program raises it.
uint32_t max_dynamic_smem(sim::Device& device, const Kernel& k, const sim::LoadedModule& m);
FuncAttributes attributes_of(Context& c, Kernel& k);
/// Throws CallFailed for an attribute that cannot be set, or a value out of range.
void set_attribute(Context& c, Kernel& k, int attribute, int value);
/// CTAs of `threads` threads with `dynamic_smem` that an SM holds; 0 if none.
int ctas_per_sm(Context& c, Kernel& k, int threads, size_t dynamic_smem);
/// Dynamic shared memory each of `ctas` CTAs per SM can have.
size_t available_smem(Context& c, Kernel& k, int ctas);
/// Clusters of this launch that run at once; 0 if none.
int max_clusters(Context& c, Kernel& k, const RuntimeLaunchConfig& config);
int max_cluster_size(Context& c, Kernel& k, const RuntimeLaunchConfig& config);

}  // namespace drywell::cudart
