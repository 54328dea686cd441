#include "kernels/registry.h"

#include <vector>

#include "kernels/fused_rht/fused_rht.h"
#include "kernels/gemm/blockwise.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm_sm120/sm120.h"
#include "kernels/gemm_sm90/sm90.h"
#include "kernels/nvfp4/nvfp4.h"
#include "kernels/quantize_fp8/quantize_fp8.h"
#include "kernels/tma_copy/tma_copy.h"

namespace drywell::kernels {

// An explicit table: the linker would drop kernels that register themselves, or change their order.
std::span<const Kernel> all_kernels() {
  static const std::vector<Kernel> kKernels = {
      amax_kernel(),
      fused_rht_kernel(),
      gemm_bf16_kernel(),
      gemm_blockscaled_kernel(),
      gemm_blockwise_kernel(),
      gemm_fp8_kernel(),
      gemm_sm120_blockscaled_kernel(),
      gemm_sm90_blockwise_kernel(),
      interleave_shards_kernel(),
      linear_nvfp4_kernel(),
      quantize_fp8_kernel(),
      quantize_nvfp4_kernel(),
      quantize_nvfp4_2d_kernel(),
      rht_amax_kernel(),
      swizzle_sf_kernel(),
      tma_copy_kernel(),
  };
  return kKernels;
}

const Kernel& find_kernel(std::string_view name) { return find_kernel(all_kernels(), name); }

}  // namespace drywell::kernels
