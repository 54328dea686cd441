#include "sim/schedule/endless_wait.h"

#include <algorithm>
#include <optional>

#include "sim/exec/exec.h"
#include "sim/schedule/look_ahead.h"
#include "sim/schedule/wait_state.h"
#include "sim/state/gmem.h"
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

WaitsOn place_of_load(const Gmem& memory, uint64_t address) {
  if (is_shared_generic(address)) return WaitsOn::cluster;
  const Gmem::Allocation* const m = memory.find(address);
  return m == nullptr || m->borrowed ? WaitsOn::host : WaitsOn::device;
}

WaitsOn waits_on(const Warp& w, const Program& p, const LaneGroup& group, uint32_t load) {
  const isa::Mod space = p.instruction(p.code[load]).mod(isa::Slot::space);
  if (space == isa::Mod::shared || space == isa::Mod::shared_cta) return WaitsOn::cluster;
  const std::optional<Warp> there = space == isa::Mod::none || space == isa::Mod::global ? look_ahead(w, group, load) : std::nullopt;
  WaitsOn on = there.has_value() && there->active == group.lanes ? WaitsOn::cluster : WaitsOn::host;
  if (on != WaitsOn::host) for_lanes(group.lanes, [&](uint32_t lane) { on = std::max(on, place_of_load(*w.cta->cluster->launch->gmem, lane_address(*there, p.code[load], lane))); });
  return on;
}

WaitsOn waits_on(const Warp& w, const Program& p, const LaneGroup& group) {
  const ClosedWait* loop = group.lanes == 0 ? nullptr : closed_wait(p, group.pc);
  WaitsOn on = WaitsOn::cluster;
  if (loop == nullptr) return on;
  for (const uint32_t load : loop->loads) on = std::max(on, waits_on(w, p, group, load));
  return on;
}

}  // namespace

WaitsOn waits_on(const Warp& w, const Program& p) {
  WaitsOn on = waits_on(w, p, {w.pc, w.active, w.frame, 0});
  for (const LaneGroup& g : w.waiting) on = std::max(on, waits_on(w, p, g));
  return on;
}

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
  return std::all_of(warps.begin(), warps.end(), [&](const Warp* w) { return w->finished() || waits_on(*w, p) == WaitsOn::cluster; });
}

}  // namespace drywell::sim
