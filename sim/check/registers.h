// Which registers and predicates of a warp have a value, by lane.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/core/types.h"
#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim::check {

/// What an instruction makes of an operand without a value. uses: anything; moves: its result has none either; selects: so, if it is the operand
/// that the predicate selects. Compilers move registers that have no value, and select beside them.
enum class Transfer : uint8_t {
  uses,
  moves,
  selects
};

/// Predicates each instruction reads and writes, by pc: indices in its frame.
class PredicateUse {
 public:
  PredicateUse() = default;
  explicit PredicateUse(const Program& p);
  struct Range {
    const uint16_t* at;
    uint16_t reads, writes;  // the writes follow the reads; the guard is the first
    Transfer transfer;
  };
  Range of(size_t pc) const { return {lists_.data() + uses_[pc].first, uses_[pc].reads, uses_[pc].writes, uses_[pc].transfer}; }

 private:
  struct Use {
    uint32_t first;
    uint16_t reads, writes;
    Transfer transfer;
  };
  std::vector<Use> uses_;
  std::vector<uint16_t> lists_;
};

inline constexpr uint32_t kRegisterSlot = 128;  // bytes of a register of 32-bit lanes

class FollowedRegisters;

class RegisterShadow {
 public:
  struct Missing {
    LaneMask registers = 0, predicates = 0;
  };
  /// `op` was executed by `mask`, which is not empty. Returns the lanes with an undefined operand, and defines the registers `op` writes.
  /// Of registers that are not followed every lane has a value.
  Missing step(const Warp& w, const PredicateUse& predicates, const FollowedRegisters& followed, const DecodedOp& op, LaneMask mask);
  /// Call before the others: makes room for the frame.
  void prepare(const Warp& w, const Program& p, const FollowedRegisters& followed, uint32_t frame);
  /// Calls f(slot, lanes) for the registers that `op` reads and that have no value in some lanes of `mask`. Call before step(); no calls.
  template <class F>
  void each_missing(const Warp& w, const FollowedRegisters& followed, const DecodedOp& op, LaneMask mask, F f) {
    const Program& p = *w.cta->cluster->launch->program;
    prepare(w, p, followed, w.frame);
    const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
    for (uint32_t i = 0; i < use.reads; ++i) {
      const uint32_t slot = w.frame_base + p.reg_lists[use.first + i];
      if (const LaneMask lanes = mask & ~defined_[slot / kRegisterSlot]; lanes != 0) f(slot, lanes);
    }
  }
  /// An operation writes the register later; `slot`: offset in the register file.
  void define(uint32_t slot, LaneMask lanes);
  bool defined(const FollowedRegisters& followed, uint32_t slot, LaneMask lanes) const;
  /// The guard of `op` excluded all of `lanes`. Returns the lanes for which the guard's predicate is undefined.
  LaneMask skipped(const Warp& w, const FollowedRegisters& followed, const DecodedOp& op, LaneMask lanes);

 private:
  /// The frame of the instruction just executed, which may have called or returned.
  uint32_t frame_of(const Warp& w, const Program& p, const DecodedOp& op) const;
  /// A frame that lanes enter holds no values of theirs, whatever earlier calls have left there.
  void enter(const Warp& w, const Program& p, const FollowedRegisters& followed, uint32_t frame, LaneMask lanes);

  std::vector<LaneMask> defined_, predicates_;  // of all frames, in the warp's layout
};

}  // namespace drywell::sim::check
