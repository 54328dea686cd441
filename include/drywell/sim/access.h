// Cost of one warp memory instruction from its addresses: bank conflicts in SMEM, sectors and lines in GMEM.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim {

/// Addresses of the lanes of `mask`; the other entries are not read.
struct LaneAddresses {
  std::array<uint64_t, kWarpSize> at;
  LaneMask mask = 0;
  uint32_t bytes = 0;  // per lane
};

/// A run of bytes in global memory.
struct ByteRange {
  uint64_t address = 0;
  uint32_t bytes = 0;
};

/// Passes through the 32 banks: accesses wider than 4 bytes are split into groups of lanes that fill 128 bytes, and
/// every distinct word of a bank beyond the first costs one more pass (CUDA C++ Programming Guide, shared
/// memory; same words broadcast).
uint32_t smem_wavefronts(const LaneAddresses& a);
/// The number of passes without conflicts.
uint32_t smem_ideal_wavefronts(const LaneAddresses& a);

/// Appends the 32-byte sectors touched, merged into runs in the order of their addresses' first lanes;
/// returns the number of 128-byte lines.
uint32_t gmem_sectors(const LaneAddresses& a, std::vector<ByteRange>& out);

}  // namespace drywell::sim
