// Why a warp cannot go on.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Why a warp waits: the closed list stall statistics and deadlock reports use.
enum class BlockReason : uint8_t {
  none, mbarrier, named_barrier, warp_sync, cluster_barrier, tmem_alloc, tmem_ld, tmem_st, bulk_group, async_group, wgmma,
  register_dependency, setmaxnreg, grid_dependency, nanosleep, count_
};
/// "mbarrier", "named_barrier", …: stable names.
const char* block_reason_name(BlockReason r);

}  // namespace drywell::sim
