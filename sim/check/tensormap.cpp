// Tensor maps edited in global memory: the tensormap proxy reads them behind a release and an acquire of its own
// (docs/facts/tma-mbarrier.md §3.2).
#include <fmt/format.h>

#include "drywell/isa/tensor_map.h"
#include "sim/check/touch.h"
#include "sim/exec/operands.h"

namespace drywell::sim::check {

void ClusterMonitor::edit_map(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpClock& clock = state_of(w).clock;
  switch (op.sync) {
    case isa::SyncRole::map_edit:
      memory(w, op, mask, static_cast<Space>(op.extra), isa::kTensorMapBytes, true);
      break;
    case isa::SyncRole::map_copy: {
      const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
      const Src* s = slots_of(w, op);
      const uint32_t from = slot_shared_address(w, s + kAddressSlots, lane, false);
      const uint64_t to = slot_address(w, s, lane);
      touch({Memory::shared, shared_rank(from), shared_offset(from), isa::kTensorMapBytes}, accesses_.add(access_of(w, pc_of(op), mask, Agent::thread, false)), clock, Rule::none);
      touch({Memory::global, 0, to, isa::kTensorMapBytes}, accesses_.add(access_of(w, pc_of(op), mask, Agent::thread, true)), clock, Rule::none);
      clock.now.map_released.join(clock.now.seen);
      clock.tick();
      break;
    }
    case isa::SyncRole::map_release:
      clock.now.map_released.join(clock.now.seen);
      clock.tick();
      break;
    default:  // map_acquire
      clock.now.map_acquired.join(clock.now.map_released);
  }
}

// The copy reads its map when it is issued.
void ClusterMonitor::use_map(const Warp& w, const AsyncOp& op, uint64_t map) {
  if (map < window::kGlobalBase || !launch_.full()) return;
  const WarpClock& who = state_of(w).clock;
  const AccessId id = accesses_.add(access_of(w, op.issuer.pc, 1u << op.issuer.lane, Agent::load, false));
  const auto judge = [&](const Access& prior, const Access&) {
    if (!is_plain(prior.agent) || !prior.write) return Rule::none;
    if (who.now.seen[prior.issuer] < prior.issued_at) return launch_.opaque ? Rule::none : Rule::global_race;
    if (who.now.map_released[prior.issuer] < prior.issued_at) return Rule::map_not_released;
    return who.now.map_acquired[prior.issuer] < prior.issued_at ? Rule::map_not_acquired : Rule::none;
  };
  Answers known;
  touch_cells(global_, map, map + isa::kTensorMapBytes, id, judge, [](uint64_t at) { return fmt::format("tensor map in global memory at {:#x}", at); }, Rule::none, known);
}

}  // namespace drywell::sim::check
