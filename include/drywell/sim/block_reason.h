// Reasons why a warp is blocked.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Reason why a warp waits: the closed list of stall statistics and deadlock reports.
enum class BlockReason : uint8_t {
  none,
  mbarrier,
  named_barrier,
  warp_sync,
  cluster_barrier,
  tmem_alloc,
  tmem_ld,
  tmem_st,
  bulk_group,
  async_group,
  wgmma,
  register_dependency,
  setmaxnreg,
  grid_dependency,
  nanosleep,
  count_
};
/// "mbarrier", "named_barrier", …: stable names.
const char* block_reason_name(BlockReason r);

}  // namespace drywell::sim
