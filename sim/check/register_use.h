// Registers: uses of those that have no value, and uses that show that a tcgen05.ld has written its registers.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class RegisterUse {
 public:
  explicit RegisterUse(ClusterParts& parts) : parts_(parts) {}

  /// An instruction that reads a register which some tcgen05.ld writes.
  void take_loaded(const Warp& w, const DecodedOp& op);
  /// Any instruction, if the checker follows registers: `mask` has executed it.
  void follow(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// Its guard excluded all active lanes.
  void skipped(const Warp& w, const DecodedOp& op);

 private:
  void unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what);

  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
