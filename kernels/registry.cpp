#include "kernels/registry.h"

#include <fmt/format.h>

#include "drywell/core/text.h"
#include "kernels/blockwise/sm90.h"
#include "kernels/fused_rht/fused_rht.h"
#include "kernels/gemm/blockwise.h"
#include "kernels/gemm/gemm.h"
#include "kernels/nvfp4/nvfp4.h"
#include "kernels/quantise_fp8/quantise_fp8.h"
#include "kernels/tma_copy/tma_copy.h"

namespace drywell::kernels {

// An explicit table: kernels that registered themselves would be dropped by the linker, or come in any order.
std::span<const Kernel> all_kernels() {
  static const std::vector<Kernel> kKernels = {
      amax_kernel(),
      fused_rht_kernel(),
      gemm_bf16_kernel(),
      gemm_blockscaled_kernel(),
      gemm_blockwise_kernel(),
      gemm_fp8_kernel(),
      gemm_sm90_blockwise_kernel(),
      interleave_shards_kernel(),
      linear_nvfp4_kernel(),
      quantise_fp8_kernel(),
      quantise_nvfp4_kernel(),
      quantise_nvfp4_2d_kernel(),
      rht_amax_kernel(),
      swizzle_sf_kernel(),
      tma_copy_kernel(),
  };
  return kKernels;
}

std::unique_ptr<Accelerator> RunContext::open() const {
  if (machine) return machine();
  return std::make_unique<SimulatedDevice>(sim::DeviceOptions{.arch = arch});
}

const Kernel& find_kernel(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Kernel& k : all_kernels()) {
    if (k.name == name) return k;
    names.push_back(k.name);
  }
  const std::string guess = did_you_mean(name, names);
  throw InputError("E4305", fmt::format("no kernel '{}'", name),
                   (guess.empty() ? "" : guess + " ") + "kernels: " + join(names));
}

}  // namespace drywell::kernels
