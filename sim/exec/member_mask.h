// The member masks of .sync instructions. The mask is a register operand, so lanes of one warp may have different masks. Example:
// with tiles of eight lanes, the four tiles of a warp execute one shfl.sync, each with its own mask.
#pragma once

#include <bit>

#include "sim/exec/bind_helpers.h"

namespace drywell::sim {

/// Calls f(members, lanes) for each distinct member mask of the lanes in `mask`, until f returns an effect other than next.
template <class F>
Effect for_member_masks(Warp& w, Src masks, LaneMask mask, F&& f) {
  const uint32_t* of_lane = lanes<uint32_t>(w, masks);
  for (LaneMask left = mask; left != 0;) {
    const uint32_t members = of_lane[std::countr_zero(left)];
    LaneMask group = 0;
    for (uint32_t i = 0; i < kWarpSize; ++i) group |= LaneMask{of_lane[i] == members} << i;
    group &= left;
    if (const Effect e = f(members, group); e != Effect::next) return e;
    left &= ~group;
  }
  return Effect::next;
}

/// Lanes of `group` outside of their member mask that execute the instruction together with all of its members. PTX has no rule for them; an H100 takes
/// them for members (shuffles, votes, redux, match and bar.warp.sync). Without the members it raises an illegal instruction.
inline LaneMask beside_members(const Warp& w, uint32_t members, LaneMask group) {
  const bool all = (members & group) != 0 && (members & w.alive & ~group) == 0;
  return all ? group & ~members : 0;
}

}  // namespace drywell::sim
