// gemm-sm90-blockwise: CUTLASS's cooperative warp-specialised FP8 GEMM with blockwise or groupwise scales on Hopper, as the
// article "SM90 Blockwise Scaling and Groupwise Scaling", section "Warp specialization", describes it. Warp group 0 produces (warp 0: TMA,
// warp 3: scales by cp.async), warp groups 1 and 2 share a tile of 128 rows: wgmma on each block of K, then promotion. CTAs of a
// cluster share A along N and B along M by multicast.
#pragma once

#include <cstdint>

#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "kernels/blockwise/problem.h"

namespace drywell::kernels::blockwise {

struct Sm90Config {
  numeric::Format a = numeric::Format::e4m3, b = numeric::Format::e4m3;
  ScaleConfig scales;  // "Sm90 supports MN-major SFA and SFB only"; granularity_k is the tile's K: 32, 64 or 128
  uint32_t bn = 128;
  uint32_t stages = 4;
  isa::TensorType output = isa::TensorType::bf16;
  isa::Major d_major = isa::Major::k;  // of C and D: k row-major, mn column-major
  bool reads_c = false;
  uint32_t cluster_m = 1, cluster_n = 1;  // tiles of a cluster
  uint32_t ctas = 0;                      // largest grid; 0: one CTA for every SM
};

struct Sm90Plan {
  explicit Sm90Plan(const Sm90Config& c);

  static constexpr uint32_t kTileM = 128, kThreads = 384, kConsumerWarps = 8;
  // "static constexpr int ScaleTmaThreshold = 32"
  static constexpr uint32_t kScaleTmaThreshold = 32;
  // "Two threads per CTA are producers (1 for operand tile tma, and 32 for scales cp.async)"
  static constexpr uint32_t kProducerThreadEvents = 33;
  static constexpr uint32_t kHeaderBytes = 1024;  // barriers

  Sm90Config config;
  StageScales sfa, sfb;  // of one stage
  uint32_t a_bytes = 0, b_bytes = 0, transaction_bytes = 0;
  uint32_t smem_a = 0, smem_b = 0, smem_sfa = 0, smem_sfb = 0, smem_bytes = 0;

  /// "the scale granularity equals the tile's size along K"; a row of a stage is its swizzle span.
  uint32_t tile_k() const { return config.scales.k; }
  uint32_t cluster() const { return config.cluster_m * config.cluster_n; }
  /// Number of CTAs that read the data that one CTA loads, itself included: those of its row and of its column.
  uint32_t readers() const { return config.cluster_m + config.cluster_n - 1; }
  isa::Swizzle swizzle() const { return tile_k() == 128 ? isa::Swizzle::b128 : tile_k() == 64 ? isa::Swizzle::b64
                                                                                              : isa::Swizzle::b32; }

  bool tma_sfa() const { return sfa.rows >= kScaleTmaThreshold && sfb.rows < kScaleTmaThreshold; }
  bool tma_sfb() const { return sfb.rows >= kScaleTmaThreshold && sfa.rows < kScaleTmaThreshold; }
  /// Bytes from stage to stage: the destination of a TMA load begins at a multiple of 128.
  uint32_t sfa_pitch() const { return (sfa.bytes() + 127) / 128 * 128; }
  uint32_t sfb_pitch() const { return (sfb.bytes() + 127) / 128 * 128; }
  reference::BlockwiseArithmetic arithmetic() const;
};

/// The launch's parameters as the kernel reads them.
struct Sm90Problem {
  isa::TensorMap map_a, map_b, map_sf;  // map_sf: of SFA or SFB, if TMA loads one of them
  DeviceScales sfa, sfb;
  uint64_t d = 0, c = 0;
  uint32_t tiles_m = 0, tiles = 0, k_tiles = 0, m = 0, n = 0;  // tiles: of a cluster
  uint32_t pad[11] = {};
};
static_assert(sizeof(Sm90Problem) == 512);

isa::Module build_sm90_blockwise(const Sm90Plan& plan);
/// Throws InputError E2310.
void check_sm90_blockwise(const Sm90Config& c, const Shape& s);
sim::LaunchConfig sm90_launch(const Sm90Plan& plan, const Shape& s, uint32_t sm_count);

struct Sm90Result {
  sim::RunResult run;
  std::vector<uint32_t> d;
};
Sm90Result run_sm90_blockwise(Accelerator& device, const Sm90Plan& plan, const Problem& p, const Scalars& s, const sim::RunOptions& options);

}  // namespace drywell::kernels::blockwise

namespace drywell::kernels {
Kernel gemm_sm90_blockwise_kernel();
}
