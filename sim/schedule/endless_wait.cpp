#include "sim/schedule/endless_wait.h"

#include <algorithm>
#include <optional>

#include "sim/exec/exec.h"
#include "sim/schedule/look_ahead.h"
#include "sim/schedule/wait_state.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

// A loop's known values depend on each other in fewer rounds than it has instructions (200 at most), and a round may be sixteen instructions.
constexpr uint32_t kRounds = 8192;

/// Of a warp of which no lane polls: one that stands at a barrier executes nothing, and one that only comes past it does.
uint64_t executed(const Program& p, const Warp& w) {
  const auto polls = [&](const LaneGroup& g) { return g.lanes != 0 && closed_wait(p, g.pc) != nullptr; };
  return closed_wait(p, w.pc) != nullptr || std::any_of(w.waiting.begin(), w.waiting.end(), polls) ? 0 : w.instructions;
}

/// The lanes' loads in the loop are of the cluster's shared memory, which only the cluster writes.
bool loads_shared(const Warp& w, const Program& p, const LaneGroup& group) {
  const ClosedWait* loop = closed_wait(p, group.pc);
  if (loop == nullptr) return true;
  return std::all_of(loop->loads.begin(), loop->loads.end(), [&](uint32_t load) {
    const isa::Mod space = p.instruction(p.code[load]).mod(isa::Slot::space);
    if (space != isa::Mod::none) return space == isa::Mod::shared || space == isa::Mod::shared_cta;
    const std::optional<Warp> there = look_ahead(w, group, load);
    bool shared = there.has_value() && there->active == group.lanes;
    for_lanes(group.lanes, [&](uint32_t lane) { shared = shared && is_shared_generic(lane_address(*there, p.code[load], lane)); });
    return shared;
  });
}

bool loads_shared(const Warp& w, const Program& p) {
  return loads_shared(w, p, {w.pc, w.active, w.frame, 0}) && std::all_of(w.waiting.begin(), w.waiting.end(), [&](const LaneGroup& g) { return loads_shared(w, p, g); });
}

}  // namespace

bool EndlessWait::proven(const Cluster& c, const std::vector<Warp*>& warps) {
  const Program& p = *c.launch->program;
  if (p.closed_waits.empty()) return false;
  uint64_t state = 0;
  for (const Warp* w : warps) {
    if (w->finished()) continue;
    const std::optional<uint64_t> one = wait_state(p, *w, [&](uint32_t pc) { return p.closed_wait_at[pc]; });
    if (!one.has_value()) return rounds_ = 0, false;
    state = (state * 0x100000001B3ull + *one) * 0x100000001B3ull + executed(p, *w);
  }
  if (state != state_ || progress_ != c.progress) rounds_ = 0;
  state_ = state;
  progress_ = c.progress;
  if (++rounds_ < kRounds) return false;
  rounds_ = 0;
  return std::all_of(warps.begin(), warps.end(), [&](const Warp* w) { return w->finished() || loads_shared(*w, p); });
}

}  // namespace drywell::sim
