// gemm-blockwise on sm_100a: the GEMM kernel with software scales (kernels/blockwise), one problem or several in one launch.
#pragma once

#include <span>

#include "kernels/blockwise/problem.h"
#include "kernels/gemm/gemm.h"

namespace drywell::kernels {

/// Throws InputError E2310 with all sizes and options that the kernel does not support.
void check_blockwise(const gemm::GemmConfig& config, std::span<const blockwise::Shape> shapes);

/// Returns the launch with the CTAs for all problems.
sim::LaunchConfig blockwise_launch(const gemm::GemmPlan& plan, std::span<const blockwise::Shape> shapes, uint32_t sm_count);

struct BlockwiseResult {
  sim::RunResult run;
  std::vector<std::vector<uint32_t>> d;  // by problem: codes of the output type, row-major
};
BlockwiseResult run_blockwise(Accelerator& device, const gemm::GemmPlan& plan, std::span<const blockwise::Problem> problems,
                              const blockwise::Scalars& scalars, const sim::RunOptions& options);

Kernel gemm_blockwise_kernel();

}  // namespace drywell::kernels
