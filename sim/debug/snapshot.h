// Saves and restores the machine's state: a cluster with its schedule, and global memory as pages that snapshots share.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/schedule/cluster_stepper.h"
#include "sim/state/cta.h"

namespace drywell::sim {

namespace detail {
// Each function names every member of its structure: a new member does not compile until it is listed here as state or not.
template <class C>
auto state_of_cta(C& cta) {
  auto& [cluster, rank, index, sm, serial, smem, tmem, own_tmem, barriers, warps, live_warps, permit_given_up, group_used, pair_request, pair_warp,
         collectors, register_pool, cancel_failed, wake_epoch, started] = cta;
  return std::tie(smem, *tmem, barriers, warps, live_warps, permit_given_up, group_used, pair_request, pair_warp, collectors, register_pool, cancel_failed,
                  wake_epoch, started);
}
template <class C>
auto state_of_cluster(C& c) {
  auto& [launch, index, ctas, pending, next_op, progress, generation, ordered, eager, now] = c;
  return std::tie(pending, next_op, progress, generation, ordered, eager, now);
}
template <class T>
struct Values;
template <class... T>
struct Values<std::tuple<T&...>> {
  using type = std::tuple<T...>;
};
}  // namespace detail

class ClusterImage {
 public:
  explicit ClusterImage(ClusterStepper& of);
  /// `to` must be the same cluster of the same launch.
  void restore(ClusterStepper& to) const;
  uint64_t index() const { return index_; }

 private:
  uint64_t index_;
  SchedulePosition position_;
  detail::Values<decltype(detail::state_of_cluster(std::declval<Cluster&>()))>::type cluster_;
  std::vector<detail::Values<decltype(detail::state_of_cta(std::declval<Cta&>()))>::type> ctas_;
};

class MemoryImage {
 public:
  /// Shares equal pages with `earlier`.
  MemoryImage(const Gmem& of, const MemoryImage* earlier);
  /// `to` must have the allocations of the time of the image (a launch makes none).
  void restore(Gmem& to) const;
  static uint64_t bytes(const Gmem& of);

 private:
  static constexpr size_t kPageBytes = 16384;
  using Page = std::vector<uint8_t>;
  std::vector<std::vector<std::shared_ptr<const Page>>> parts_;  // per allocation
};

}  // namespace drywell::sim
