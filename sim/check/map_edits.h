// Tensor maps edited in global memory: the tensormap proxy reads them after a release and an acquire of its own
// (docs/facts/tma-mbarrier.md §3.2).
#pragma once

#include "sim/check/memory_accesses.h"

namespace drywell::sim::check {

class MapEdits {
 public:
  MapEdits(ClusterParts& parts, MemoryAccesses& accesses) : parts_(parts), accesses_(accesses) {}

  /// tensormap.replace.
  void edit(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// tensormap.cp_fenceproxy: copies a map from shared memory and releases it.
  void copy(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// fence.proxy.tensormap with .release, with .acquire.
  void release(const Warp& w, const DecodedOp& op, LaneMask mask);
  void acquire(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  ClusterParts& parts_;
  MemoryAccesses& accesses_;
};

}  // namespace drywell::sim::check
