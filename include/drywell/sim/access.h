// Cost of one warp memory instruction from its addresses: bank conflicts in SMEM, sectors and lines in GMEM.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim {

/// Addresses of the lanes of `mask`; the other entries are not read.
struct LaneAddresses {
  std::array<uint64_t, kWarpSize> at;  // by lane
  LaneMask mask = 0;                   // lanes that access
  uint32_t bytes = 0;                  // per lane
};

/// A run of bytes in global memory.
struct ByteRange {
  uint64_t address = 0;  // of the first byte
  uint32_t bytes = 0;    // how many
  /// Global accesses: of an atomic one, lanes at the word that has most of them; of a store, sectors that it writes a part of.
  uint32_t turns = 0;
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
/// The same for a store: the runs say how many of their sectors it writes a part of.
uint32_t gmem_stored_sectors(const LaneAddresses& a, std::vector<ByteRange>& out);
/// The same for an atomic operation: each sector is a run.
uint32_t gmem_atomic_sectors(const LaneAddresses& a, std::vector<ByteRange>& out);

/// Lanes of one atomic operation on shared memory that wait for each other.
struct SmemContention {
  uint32_t bank = 1;  // lanes at the busiest bank, equal words counted
  uint32_t word = 1;  // lanes at the busiest word
};
/// Returns how the lanes of an access to shared memory meet in banks.
SmemContention smem_contention(const LaneAddresses& a);

}  // namespace drywell::sim
