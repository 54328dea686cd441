// Registers: uses of those that have no value, uses that show that a tcgen05.ld has written its registers, and accesses of those that
// a wgmma takes.
#pragma once

#include "sim/check/absent_flow.h"

namespace drywell::sim::check {

class RegisterUse {
 public:
  explicit RegisterUse(ClusterParts& parts) : parts_(parts), absent_(parts) {}

  /// An instruction that reads a register which some tcgen05.ld writes, or accesses a copy of one.
  void take_loaded(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// An instruction, no product, that accesses a register which some wgmma takes.
  void take_fragments(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// wgmma.fence.
  void fence_products(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// Any instruction, if the checker follows registers: `mask` has executed it.
  void follow(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// Its guard excluded all active lanes.
  void skipped(const Warp& w, const DecodedOp& op);

 private:
  /// The register at `offset` of the frame is read before a wait for the load that writes it.
  void report_unwaited(const Warp& w, const DecodedOp& op, LaneMask mask, AccessId load, uint32_t offset);
  /// A product may still use the register at `slot`, which the instruction writes or, if not `write`, reads.
  void check_in_flight(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t offset, bool write);
  void unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what);

  ClusterParts& parts_;
  AbsentFlow absent_;
};

}  // namespace drywell::sim::check
