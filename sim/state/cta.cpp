#include "sim/state/cta.h"

#include <algorithm>

namespace drywell::sim {

const char* block_reason_name(BlockReason r) {
  static constexpr const char* kNames[] = {"none", "mbarrier", "named_barrier", "warp_sync", "cluster_barrier", "tmem_alloc",
                                           "tmem_ld", "tmem_st", "bulk_group", "async_group", "wgmma", "register_dependency",
                                           "setmaxnreg", "grid_dependency", "nanosleep"};
  return kNames[static_cast<size_t>(r)];
}

Warp::Warp() = default;
Warp::Warp(const Warp&) = default;
Warp::Warp(Warp&&) noexcept = default;
Warp& Warp::operator=(const Warp&) = default;
Warp& Warp::operator=(Warp&&) noexcept = default;
Warp::~Warp() = default;

Smem::Smem() = default;
Smem::Smem(const Smem&) = default;
Smem::Smem(Smem&&) noexcept = default;
Smem& Smem::operator=(const Smem&) = default;
Smem& Smem::operator=(Smem&&) noexcept = default;
Smem::~Smem() = default;

void Smem::reset(uint32_t bytes, StateMemory* memory) {
  bytes_ = StateVector<uint8_t>(bytes, 0xFF, memory);  // poison: NaN in every float format
  barriers_.clear();
}

Mbarrier* Smem::find_mbarrier(uint32_t offset) {
  for (auto it = barriers_.rbegin(); it != barriers_.rend(); ++it) {
    if (it->offset == offset) return &it->barrier;
  }
  return nullptr;
}

Mbarrier& Smem::make_mbarrier(uint32_t offset) {
  if (Mbarrier* b = find_mbarrier(offset); b != nullptr) return *b;
  barriers_.push_back({offset, {}});
  return barriers_.back().barrier;
}

}  // namespace drywell::sim
