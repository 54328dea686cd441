// Which registers of a warp have a value, by lane.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/core/types.h"
#include "sim/exec/program.h"

namespace drywell::sim::check {

/// Follows kernels without calls: values of a call's results arrive past the instructions seen here.
class RegisterShadow {
 public:
  /// Lanes of `mask` that read a register without a value; 0: none. Then marks what the instruction writes.
  LaneMask step(const Program& p, const DecodedOp& op, LaneMask mask) {
    if (p.functions.size() != 1) return 0;
    if (defined_.empty()) prepare(p.kernel());
    const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
    const uint32_t* at = p.reg_lists.data() + use.first;
    LaneMask missing = 0;
    for (uint32_t i = 0; i < use.reads; ++i) missing |= mask & ~defined_[at[i] / kSlot];
    for (uint32_t i = 0; i < use.writes; ++i) defined_[at[use.reads + i] / kSlot] |= mask;
    return missing;
  }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes

  void prepare(const FunctionCode& f) {
    defined_.assign(f.frame_bytes / kSlot + 1, 0);
    defined_[f.scratch / kSlot] = kFullMask;
    for (const FunctionCode::FrameAddress& a : f.frame_addresses) defined_[a.slot / kSlot] = kFullMask;
  }

  std::vector<LaneMask> defined_;
};

}  // namespace drywell::sim::check
