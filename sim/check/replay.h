// Executes an instruction again, with other operands and without effects: what its result would have been.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/state/program.h"

namespace drywell::sim::check {

/// Whether the instruction only makes registers and predicates of registers and predicates, each lane of its own.
bool is_computation(const DecodedOp& op);
/// Whether it is a product of matrices in registers, made by the lanes of a warp together and at once.
bool is_register_product(const DecodedOp& op);

class Replay {
 public:
  /// Takes the operands as they are in the warp: registers by offset in its frame, and all predicates.
  void load(const Warp& w, const DecodedOp& op, std::span<const uint32_t> registers);
  template <class Lane>
  Lane* lanes(uint32_t offset) { return reinterpret_cast<Lane*>(registers_.data() + offset); }
  uint32_t& predicate(uint32_t index) { return predicates_[index]; }
  /// Executes it for those lanes. False: it cannot be executed.
  bool run(const DecodedOp& op, LaneMask mask);

 private:
  Warp warp_;
  StateVector<uint8_t> registers_;
  std::vector<uint32_t> predicates_;
};

}  // namespace drywell::sim::check
