// gemm-sm120-blockscaled: D = alpha * (A * SFA) * (B * SFB)^T on GeForce Blackwell, whose products are
// mma.sync with block scales. One warp produces by TMA; eight consume: ldmatrix from swizzled tiles, scales
// from global memory straight into the lanes that mma reads. The lanes of a quad hold scales of different
// tiles, and the selectors of mma choose between them (docs/facts/sm120.md §3).
#pragma once

#include <cstdint>

#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/kernels/quantize.h"
#include "drywell/launch/kernel.h"

namespace drywell::kernels::sm120 {

enum class BlockFormat : uint8_t {
  nvf4,
  mxf4,
  mxf8
};

struct Config {
  BlockFormat format = BlockFormat::nvf4;
  numeric::Format a = numeric::Format::e2m1, b = numeric::Format::e2m1;
  isa::TensorType output = isa::TensorType::bf16;  // or f32
  uint32_t stages = 3;

  bool packed() const { return format != BlockFormat::mxf8; }
  uint32_t mma_k() const { return packed() ? 64 : 32; }
  /// Scales of a row in one mma.
  uint32_t factors() const { return format == BlockFormat::nvf4 ? 4 : format == BlockFormat::mxf4 ? 2
                                                                                                  : 1; }
  uint32_t block() const { return mma_k() / factors(); }
  uint32_t tile_k() const { return kSteps * mma_k(); }
  /// Scale codes of a row in one stage, in bytes.
  uint32_t stage_scales() const { return kSteps * factors(); }
  uint32_t output_bytes() const { return isa::element_bits(output) / 8; }
  uint32_t smem_bytes() const { return kHeaderBytes + stages * 2 * kOperandBytes; }

  static constexpr uint32_t kTile = 128, kRowBytes = 128,
                            kSteps = 4;  // a stage's row is a span of the swizzle: four mma along k
  static constexpr uint32_t kOperandBytes = kTile * kRowBytes, kHeaderBytes = 1024;
  static constexpr uint32_t kConsumers = 8, kThreads = 32 * (kConsumers + 1);
};

isa::Module build(const Config& config, isa::Target target);

}  // namespace drywell::kernels::sm120

namespace drywell::kernels {
Kernel gemm_sm120_blockscaled_kernel();
}
