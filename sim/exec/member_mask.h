// The member masks of .sync instructions: a register, so that lanes of one warp may bring different ones. Tiles of a warp do: four
// groups of eight lanes execute one shfl.sync, each with its own mask.
#pragma once

#include <bit>

#include "sim/exec/bind_helpers.h"

namespace drywell::sim {

/// Calls f(members, lanes) for every mask that lanes of `mask` bring, until it returns something else than next.
template <class F>
Effect for_member_masks(Warp& w, Src masks, LaneMask mask, F&& f) {
  const uint32_t* of_lane = lanes<uint32_t>(w, masks);
  for (LaneMask left = mask; left != 0;) {
    const uint32_t members = of_lane[std::countr_zero(left)];
    LaneMask group = 0;
    for_lanes(left, [&](uint32_t i) { group |= LaneMask{of_lane[i] == members} << i; });
    if (const Effect e = f(members, group); e != Effect::next) return e;
    left &= ~group;
  }
  return Effect::next;
}

}  // namespace drywell::sim
