// tcgen05.alloc and .dealloc: allocated columns are undefined; freeing counts as a use of all of them.
#pragma once

#include <map>
#include <vector>

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class TensorAllocation {
 public:
  explicit TensorAllocation(ClusterParts& parts) : parts_(parts), allocated_(parts.cluster.ctas.size()), freed_(parts.cluster.ctas.size()) {}
  void allocate(const Warp& w, const DecodedOp& op, LaneMask mask);
  void free(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  void free_pair(const Warp& w, const DecodedOp& op, AccessId id) const;
  void report_second_free(const Warp& w, uint32_t column, AccessId free);

  ClusterParts& parts_;
  std::vector<AccessId> allocated_;                  // by CTA: its latest tcgen05.alloc; 0: none
  std::vector<std::map<uint32_t, AccessId>> freed_;  // by CTA and first column: who freed what is not allocated now
};

}  // namespace drywell::sim::check
