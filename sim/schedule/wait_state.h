// Where the lanes of a warp wait: at barriers, and in loops that do nothing but wait (sim/exec/closed_waits.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim {

inline bool at_barrier(const Program& p, uint32_t pc) {
  const DecodedOp& op = p.code[pc];
  return op.aligned || op.sync == isa::SyncRole::warp_barrier || op.sync == isa::SyncRole::cta_barrier || op.sync == isa::SyncRole::cluster_wait;
}

/// Nothing: the lanes may go on. Sums of this are the same wherever in a loop the lanes are. `loop`: one more than the number of the loop around `pc`; 0: none.
inline std::optional<uint64_t> wait_state(const Program& p, uint32_t pc, LaneMask lanes, uint32_t loop) {
  if (loop == 0 && !at_barrier(p, pc)) return std::nullopt;
  const uint64_t place = loop != 0 ? p.code.size() + loop : pc;
  return lanes * ((place * 2 + 1) * 0x9E3779B97F4A7C15ull);
}

template <class LoopAt>
std::optional<uint64_t> wait_state(const Program& p, const Warp& w, const LoopAt& loop_at) {
  std::optional<uint64_t> sum = wait_state(p, w.pc, w.active, loop_at(w.pc));
  for (const LaneGroup& g : w.waiting) {
    const std::optional<uint64_t> one = g.lanes == 0 ? 0 : wait_state(p, g.pc, g.lanes, loop_at(g.pc));
    if (!sum.has_value() || !one.has_value()) return std::nullopt;
    *sum += *one;
  }
  return sum;
}

}  // namespace drywell::sim
