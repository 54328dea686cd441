// Barriers of threads: of a warp, of a CTA (named), of a cluster. A warp that leaves acquires the releases of all that arrived.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/check/barrier_instance.h"
#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class ThreadBarriers {
 public:
  explicit ThreadBarriers(ClusterParts& parts) : parts_(parts), named_(parts.cluster.ctas.size()) {}

  /// The warp arrives at named barrier `id`, whose state is `b` after the arrival.
  void arrive(const Warp& w, uint32_t id, const NamedBarrier& b);
  /// barrier, bar: the warp leaves the named barrier.
  void named(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// bar.warp.sync.
  void warp(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// barrier.cluster.arrive.
  void arrive_at_cluster(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// barrier.cluster.wait.
  void leave_cluster(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  void close_cluster();
  /// Each arrival of the instance before must happen before this one: else this one may be of that instance, and that one of this.
  void check_order(const Warp& w, BarrierInstance& barrier, uint32_t id);
  /// Warps of the CTA that ended without arriving at this instance count as arrived, with all that they did.
  void join_ended(BarrierInstance& barrier, const Cta& cta, std::shared_ptr<const Message> WarpState::*joined);

  ClusterParts& parts_;
  std::vector<std::array<BarrierInstance, 16>> named_;  // by CTA and number
  BarrierInstance cluster_;
  uint64_t generation_ = 0;  // of the cluster's barrier
};

}  // namespace drywell::sim::check
