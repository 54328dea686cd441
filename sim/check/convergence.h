// The lanes and warps that execute an instruction: one lane where one is meant, all warps of a warpgroup where all are.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class Convergence {
 public:
  explicit Convergence(ClusterParts& parts) : parts_(parts) {}

  /// An instruction whose every active lane issues an operation of its own.
  void product(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// tcgen05.commit: also, whether it tracks anything.
  void commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// setmaxnreg.
  void set_registers(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// The CTA has ended: compares the setmaxnreg of each warpgroup's warps.
  void finish(const Cta& cta);

 private:
  void check_commit(const Warp& w, const DecodedOp& op, LaneMask mask);

  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
