// Fences: what the warp's next relaxed arrival releases, what its last relaxed wait acquires, and the proxies whose accesses are ordered.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class Fences {
 public:
  explicit Fences(ClusterParts& parts) : parts_(parts) {}

  /// fence, membar.
  void threads(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// fence.mbarrier_init.
  void mbarrier_init(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// fence.proxy.async.
  void async_proxy(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// fence.proxy.async::generic with an order of its own.
  void async_generic(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// tcgen05.fence::before_thread_sync, ::after_thread_sync.
  void tensor_before(const Warp& w, const DecodedOp& op, LaneMask mask);
  void tensor_after(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
