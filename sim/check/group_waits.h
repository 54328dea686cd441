// A thread's waits for its own operations in flight, alone or by groups, and the commits that close the groups.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class GroupWaits {
 public:
  explicit GroupWaits(ClusterParts& parts) : parts_(parts) {}

  /// tcgen05.wait::ld, tcgen05.wait::st.
  void tensor_loads(const Warp& w, const DecodedOp& op, LaneMask mask);
  void tensor_stores(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// cp.async.bulk.commit_group, .wait_group.
  void commit_bulk(const Warp& w, const DecodedOp& op, LaneMask mask);
  void wait_bulk(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// cp.async.commit_group, .wait_group, .wait_all.
  void commit_copies(const Warp& w, const DecodedOp& op, LaneMask mask);
  void wait_copies(const Warp& w, const DecodedOp& op, LaneMask mask);
  void wait_all_copies(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// wgmma.commit_group, .wait_group.
  void commit_products(const Warp& w, const DecodedOp& op, LaneMask mask);
  void wait_products(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// griddepcontrol.
  void grids(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
