// tcgen05.alloc and .dealloc: allocated columns are undefined; freeing counts as a use of all of them.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class TensorAllocation {
 public:
  explicit TensorAllocation(ClusterParts& parts) : parts_(parts) {}
  void allocate(const Warp& w, const DecodedOp& op, LaneMask mask);
  void free(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
