// TransformerEngine's fused transpose + random Hadamard transform + NVFP4 quantize kernel, in the DSL, as the article
// "NVFP4 training in TransformerEngine" (Kernel Deep Dive) describes it.
//
// Input: m x n bf16, row-major. The kernel reads it as n x m, transforms each run of 16 along m with a 16 x 16 Hadamard
// matrix on the tensor core, and quantizes: n rows of m packed e2m1 codes and n rows of m/16 ue4m3 block scales.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/launch/kernel.h"
#include "drywell/sim/device.h"
#include "kernels/reference/rht_nvfp4.h"

namespace drywell::kernels {

struct FusedRhtOptions {
  uint64_t m = 8192, n = 5120;
  bool stochastic = false;
  bool te_scale_order = false;  // bmax * (S_enc / 6) instead of (bmax / 6) * S_enc
  bool bf16_round_trip = true;
  bool approximate_reciprocal = false;  // rcp.approx.ftz instead of the IEEE division
  bool fences = true;                   // tcgen05.fence around the accumulators' barriers; the original has none
  uint64_t seed = 0, offset = 0;
  uint64_t k_tile_size = 0;  // 0: the article's table (section "Host Code")
};

/// Shared memory as in the article's SharedStorage, in bytes from the start of dynamic shared memory.
namespace fused_rht {
inline constexpr uint32_t kStages = 13;            // (232448 - 256) / (128*64*2 + 16*16*2)
inline constexpr uint32_t kAccumulatorStages = 4;  // of 64 TMEM columns: four 128x16 slices each
inline constexpr uint32_t kStageBytes = 128 * 64 * 2;
inline constexpr uint32_t kHadamardBytes = 16 * 16 * 2;
inline constexpr uint32_t kAccumulatorBarriers = 0;
inline constexpr uint32_t kMainloopBarriers = 64;
inline constexpr uint32_t kHadamardBarrier = 272;
inline constexpr uint32_t kTmemBase = 280;
inline constexpr uint32_t kSmemA = 384;
inline constexpr uint32_t kSmemB = kSmemA + kStages * kStageBytes;
inline constexpr uint32_t kSmemBytes = kSmemB + kStages * kHadamardBytes;
}  // namespace fused_rht

/// Builds the kernel. Rounding, scale order and similar options are constants of the kernel; shapes are parameters.
isa::Module build_fused_rht(const FusedRhtOptions& o);

/// Throws InputError E2102 for shapes that the original does not support: m must be a multiple of 64 (256-bit stores
/// without predication), n of 8 (tensor-map strides). Rows past n in the last 128-row tile are skipped.
void check_fused_rht(const FusedRhtOptions& o);

/// Returns the number of CTAs of the launch: min(tiles, SMs).
uint32_t fused_rht_grid(const FusedRhtOptions& o, uint32_t sm_count);

/// Tensors on the device: input, the 16 x 16 transform, codes, scales, the transformed tensor's amax, [seed, offset].
struct FusedRhtTensors {
  GmemAddr input{}, hadamard{}, codes{}, scales{}, amax{}, rng{};
};
sim::RunResult launch_fused_rht(Accelerator& device, const FusedRhtTensors& t, const FusedRhtOptions& o, const sim::RunOptions& run);

struct FusedRhtResult {
  sim::RunResult run;
  std::vector<uint8_t> codes, scales;  // as reference::RhtNvfp4Result
};

/// Copies the tensors to the device, launches, and reads the results. `amax` is the transformed tensor's.
FusedRhtResult run_fused_rht(Accelerator& device, std::span<const uint16_t> input, float amax, const FusedRhtOptions& o, const sim::RunOptions& run);

/// Converts the options to those of the host reference.
reference::RhtNvfp4Options reference_options(const FusedRhtOptions& o, float amax);

Kernel fused_rht_kernel();

}  // namespace drywell::kernels
