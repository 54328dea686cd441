// The lanes and warps that execute an instruction: one lane where one is meant, all warps of a warpgroup where all are.
#pragma once

#include <string_view>

#include "drywell/isa/spec.h"
#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// Whether the operand is the member mask of a .sync instruction.
inline bool names_members(const isa::OperandSpec& o) { return o.name != nullptr && o.name == std::string_view("membermask"); }

class Convergence {
 public:
  explicit Convergence(ClusterParts& parts) : parts_(parts) {}

  /// An instruction whose every active lane issues an operation of its own.
  void product(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// tcgen05.commit: also, whether it tracks anything.
  void commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// An instruction with a member mask.
  void members(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// setmaxnreg.
  void set_registers(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// The CTA has ended: compares the setmaxnreg of each warpgroup's warps.
  void finish(const Cta& cta);

 private:
  void check_commit(const Warp& w, const DecodedOp& op, LaneMask mask);

  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
