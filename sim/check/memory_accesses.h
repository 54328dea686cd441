// The memory that the lanes of an instruction access, and the order that strong accesses make.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class MemoryAccesses {
 public:
  explicit MemoryAccesses(ClusterParts& parts) : parts_(parts) {}
  /// Each lane of `mask` loads or stores `bytes` bytes.
  void access(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);

 private:
  void touch_lanes(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store, bool unchanging);
  void strong_access(const Warp& w, const DecodedOp& op, uint64_t place, bool store);
  /// The strong writes of the place: by all clusters, where they order each other.
  StrongWrites& writes_of(uint64_t place);
  void number(const Warp& w, const LanePlaces& places, const Ordering& o, Access& a);

  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
