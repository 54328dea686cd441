// Global memory and the launches before this one: what a dependent launch touches before it has waited for them, and what nobody
// has ever written.
#include <fmt/format.h>

#include "sim/check/monitor.h"

namespace drywell::sim::check {
namespace {

bool is_poison(const uint8_t* p, uint64_t bytes) { return std::all_of(p, p + bytes, [](uint8_t b) { return b == 0xFF; }); }

}  // namespace

// griddepcontrol.wait: an edge from the launches before (docs/facts/tma-mbarrier.md §3.4).
void ClusterMonitor::grid_wait(const Warp& w, const DecodedOp& op, LaneMask) {
  if (launch_.program->instruction(op).has(isa::Mod::wait)) state_of(w).clock.now.seen.raise(kGridWait, 1);
}

void ClusterMonitor::check_grid_wait(const Span& s, AccessId id, const WarpClock& who) {
  if (!launch_.waits_for_grids || who.now.seen[kGridWait] != 0) return;
  const bool write = accesses_[id].write;
  launch_.previous.each_in(s.begin, s.begin + s.bytes, [&](uint64_t at, StateId what) {
    if (what != LaunchState::kWritten && !write) return;
    reporter_.report(Rule::before_grid_wait, nullptr, accesses_[id], [&] {
      return fmt::format("global memory at {:#x}, which the launch before {}", at, what == LaunchState::kWritten ? "writes" : "reads");
    });
  });
}

// Bytes that still have the poison of a new allocation the host never wrote, and that this cluster has not written: whether
// another one did is known when all are over.
void ClusterMonitor::suspect_unwritten(const Span& s, AccessId id) {
  if (!launch_.sees_all_launches) return;
  const uint8_t* bytes = cluster_.launch->gmem->translate(s.begin, s.bytes, allocation_);
  if (bytes == nullptr || allocation_->host_wrote || launch_.written_before.contains(allocation_->base) || !is_poison(bytes, s.bytes)) return;
  bool written = false;
  global_.update(s.begin, s.begin + s.bytes, [&](StateId state, uint64_t) {
    written = written || states_.writer(state) != 0;
    return state;
  });
  if (!written && suspects_.size() < kMostSuspects) suspects_.push_back({s.begin, s.begin + s.bytes, id});
}

}  // namespace drywell::sim::check
