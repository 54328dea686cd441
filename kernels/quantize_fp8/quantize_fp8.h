// FP8 quantization of a bf16 tensor in runs of 128 along its rows: it makes A of the blockwise GEMMs (scale-m 1, scale-k
// 128). Runs on Hopper and Blackwell.
//
// Sixteen threads share a run: each loads eight values at once, shuffles find their largest magnitude, and the codes are
// e4m3(x * (448 / amax)). A CTA processes kRuns runs: the grid grows with the tensor.
#pragma once

#include "drywell/isa/target.h"
#include "drywell/launch/kernel.h"

namespace drywell::kernels {

namespace quantize_fp8 {
inline constexpr uint32_t kThreads = 256;
inline constexpr uint32_t kRun = 128;   // elements that share a factor
inline constexpr uint32_t kPasses = 4;  // runs of a thread, all loaded before the first is processed
inline constexpr uint32_t kRuns = kThreads / 16 * kPasses;
}  // namespace quantize_fp8

isa::Module build_quantize_fp8(isa::Target target);

Kernel quantize_fp8_kernel();

}  // namespace drywell::kernels
