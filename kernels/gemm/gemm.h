// D = alpha * A * B^T + beta * C on the tensor core, with and without block scaling: one parameterised kernel
// behind `gemm-blockscaled`, `gemm-fp8` and `gemm-bf16`. docs/gemm.md describes it.
//
// It follows CUTLASS's dense_blockscaled_gemm_persistent.py, which the article "CUTLASS tutorial: hardware-supported
// block scaling with Blackwell GPUs" explains: persistent CTAs, a TMA warp, an MMA warp that copies the scale factors
// to tensor memory on the same pipeline, epilogue warps with their own accumulators, output through TMA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/kernels/quantize.h"
#include "drywell/launch/accelerator.h"
#include "drywell/launch/kernel.h"
#include "drywell/sim/device.h"
#include "kernels/gemm/plan.h"

namespace drywell::kernels {

isa::Module build_gemm(const gemm::GemmPlan& plan, isa::Target target);

/// Operands and scalars; `alpha` does not include the operands' factors. C has the codes of the output type, row-major.
struct GemmProblem {
  uint64_t m = 0, n = 0, k = 0;
  QuantizedMatrix a, b;                   // m x k and n x k
  std::vector<float> a_values, b_values;  // values before quantization, for verification; empty for random codes
  std::vector<uint32_t> c;
  float alpha = 1, beta = 0;
  float total_alpha() const { return alpha * a.factor * b.factor; }
};

/// Throws InputError E2302 with all sizes and options that the kernel does not support.
void check_gemm(const gemm::GemmConfig& config, uint64_t m, uint64_t n, uint64_t k);

/// Returns the bytes of an operand in global memory as TMA reads it: packed along k (K-major) or transposed (MN-major).
std::vector<uint8_t> operand_image(const QuantizedMatrix& q, isa::Major major);
uint64_t operand_bytes(const QuantizedMatrix& q);
/// Returns scale factors in atoms of 128 rows x 4 factors (docs/facts/tcgen05.md §6.2), rows and factors padded with zero.
std::vector<uint8_t> scale_image(const QuantizedMatrix& q);
uint64_t scale_bytes(const QuantizedMatrix& q);

sim::LaunchConfig gemm_launch(const gemm::GemmPlan& plan, uint64_t m, uint64_t n, uint32_t sm_count);

/// A GEMM's operands on the device, as the kernel reads them.
struct GemmTensors {
  uint64_t m = 0, n = 0, k = 0;
  GmemAddr a{}, b{}, sfa{}, sfb{}, c{}, d{};
  float alpha = 1, beta = 0;
  GmemAddr alpha_at{};  // address of alpha, if the configuration has it in memory
};

/// Launches on tensors that are on the device already.
sim::RunResult launch_gemm(Accelerator& device, const gemm::GemmPlan& plan, const GemmTensors& x,
                           const sim::RunOptions& options);

struct GemmResult {
  sim::RunResult run;
  std::vector<uint32_t> d;  // codes of the output type, row-major; empty if no values were computed
};

GemmResult run_gemm(Accelerator& device, const gemm::GemmPlan& plan, const GemmProblem& problem,
                    const sim::RunOptions& options);

Kernel gemm_blockscaled_kernel();
Kernel gemm_fp8_kernel();
Kernel gemm_bf16_kernel();

}  // namespace drywell::kernels
