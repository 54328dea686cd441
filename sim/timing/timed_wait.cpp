#include "sim/timing/timed_wait.h"

#include <algorithm>
#include <optional>

#include "sim/schedule/endless_wait.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/spins.h"
#include "sim/schedule/wait_state.h"

namespace drywell::sim {
namespace {

constexpr Time kQuiet = 200'000;  // cycles: longer than any step of a program that goes on

template <class F>
bool all_warps(const Cluster& c, const F& f) {
  return std::all_of(c.ctas.begin(), c.ctas.end(), [&](const auto& cta) { return std::all_of(cta->warps.begin(), cta->warps.end(), [&](const Warp& w) { return w.finished() || f(w); }); });
}
template <class F>
bool all_warps(const TimedWait::Clusters& clusters, const F& f) {
  return std::all_of(clusters.begin(), clusters.end(), [&](const Cluster* c) { return all_warps(*c, f); });
}

bool waits_on_itself(const Cluster& c) {
  return all_warps(c, [&](const Warp& w) { return waits_on(w, *c.launch->program) == WaitsOn::cluster; });
}

}  // namespace

bool TimedWait::proven(Time now, uint64_t moved, const std::function<Clusters()>& live) {
  if (moved != moved_) {
    moved_ = moved;
    since_ = now;
    begun_ = false;
  }
  if (now - since_ < kQuiet) return false;
  since_ = now;
  const Clusters clusters = live();
  if (!begun_) return begun_ = begin(clusters), false;
  return all_have_gone_round() && all_warps(clusters, [](const Warp& w) { return waits_on(w, *w.cta->cluster->launch->program) != WaitsOn::host; });
}

bool TimedWait::begin(const Clusters& live) {
  until_.clear();
  return all_warps(live, [&](const Warp& w) { return w.cta->cluster->pending.empty() && add(w, *w.cta->cluster->launch->program); }) && !until_.empty();
}

// Lanes of one warp that are in two such loops take turns, of lengths that are not known.
bool TimedWait::add(const Warp& w, const Program& p) {
  if (!wait_state(p, w, [&](uint32_t pc) { return p.closed_wait_at[pc]; }).has_value()) return false;
  size_t loops = 0, size = 0;
  const auto count = [&](uint32_t pc, LaneMask lanes) {
    const ClosedWait* const loop = lanes == 0 ? nullptr : closed_wait(p, pc);
    if (loop == nullptr) return;
    ++loops;
    size = std::max(size, loop->body.size());
  };
  count(w.pc, w.active);
  for (const LaneGroup& g : w.waiting) count(g.pc, g.lanes);
  if (loops == 1) until_[&w] = w.instructions + 2 * size * size + 64;
  return loops <= 1;
}

bool TimedWait::all_have_gone_round() const {
  return std::all_of(until_.begin(), until_.end(), [](const auto& one) { return one.first->instructions >= one.second; });
}

Fault TimedWait::fault(const Clusters& live) const {
  const auto alone = std::find_if(live.begin(), live.end(), [](const Cluster* c) { return waits_on_itself(*c); });
  return alone != live.end() ? deadlock_of(**alone) : grid_deadlock_of({live.begin(), live.end()});
}

}  // namespace drywell::sim
