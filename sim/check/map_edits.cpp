#include "sim/check/map_edits.h"

#include <bit>

#include "drywell/isa/tensor_map.h"
#include "sim/exec/exec.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/tensormap.h"

namespace drywell::sim::check {

void MapEdits::edit(const Warp& w, const DecodedOp& op, LaneMask mask) {
  accesses_.access(w, op, mask, op.as<payload::TensorMapEdit>().space, isa::kTensorMapBytes, true);
}

void MapEdits::copy(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const Src* s = slots_at(w, op.as<payload::TensorMapCopy>().first_slot);
  const uint32_t from = slot_shared_address(w, s + kAddressSlots, lane, false);
  const auto touch = [&](const Span& map, bool write) {
    parts_.memory.touch(map, parts_.accesses.add(parts_.access(w, op, mask, Agent::thread, write)), parts_.state_of(w).clock);
  };
  touch({Memory::shared, shared_rank(from), shared_offset(from), isa::kTensorMapBytes}, false);
  touch({Memory::global, 0, slot_address(w, s, lane), isa::kTensorMapBytes}, true);
  release(w, op, mask);
}

void MapEdits::release(const Warp& w, const DecodedOp&, LaneMask) {
  WarpClock& clock = parts_.state_of(w).clock;
  clock.now.map_released.join(clock.now.seen);
  clock.tick();
}

void MapEdits::acquire(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpClock& clock = parts_.state_of(w).clock;
  clock.now.map_acquired.join(clock.now.map_released);
  clock.now.cross_cluster.maps_acquired.join(clock.now.cross_cluster.maps_released);
  for_lanes(mask, [&](uint32_t lane) { parts_.memory.acquire_map(lane_address(w, op, lane), clock.now.map_released); });
}

}  // namespace drywell::sim::check
