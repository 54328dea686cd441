// The smallest complete TMA kernel: y = scale * x over a 2-D float32 array, tile by tile through swizzled shared
// memory.
//
// One thread loads a 64 x 32 tile with cp.async.bulk.tensor and an mbarrier that counts its bytes; all 128 threads wait
// for the phase and multiply in place, with the swizzled address of each 16-byte chunk; a proxy fence and a barrier
// order these writes before the TMA store. Edges need no code: loads fill with zeros, stores clip.
#pragma once

#include <cstdint>

#include "drywell/isa/swizzle.h"
#include "drywell/launch/kernel.h"

namespace drywell::kernels {

struct TmaCopyOptions {
  uint64_t rows = 1024, columns = 1024;
  float scale = 1;
  isa::Swizzle swizzle = isa::Swizzle::b128;  // none, b32, b64 or b128
};

namespace tma_copy {
inline constexpr uint32_t kThreads = 128;
inline constexpr uint32_t kTileRows = 64;
/// Tile columns: one swizzle span of float32 (128 bytes when there is no swizzle).
constexpr uint32_t tile_columns(isa::Swizzle s) {
  return s == isa::Swizzle::none ? 32 : isa::swizzle_span(s) / 4;
}
}  // namespace tma_copy

isa::Module build_tma_copy(const TmaCopyOptions& o, isa::Target target);

Kernel tma_copy_kernel();

}  // namespace drywell::kernels
