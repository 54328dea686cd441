// Memory: the accesses of instructions, and the order that strong accesses make.
#include <bit>
#include <cstring>

#include "drywell/isa/spec.h"
#include "drywell/isa/tensor_map.h"
#include "sim/check/monitor.h"
#include "sim/exec/exec.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/tensormap.h"

namespace drywell::sim::check {
namespace {

bool is_atomic(isa::Opcode o) {
  const isa::MemoryRole role = isa::spec(o).memory;
  return role == isa::MemoryRole::atomic || role == isa::MemoryRole::reduction;
}

/// The bytes that the lanes of an instruction touch; neighbouring runs are joined.
class LaneRuns {
 public:
  void add(uint64_t at, uint64_t bytes) {
    if (count_ != 0 && at == runs_[count_ - 1].end) {
      runs_[count_ - 1].end = at + bytes;
    } else if (count_ == 0 || at != runs_[count_ - 1].begin || at + bytes != runs_[count_ - 1].end) {
      runs_[count_++] = {at, at + bytes};
    }
  }
  template <class F>
  void each(F f) const {
    for (size_t i = 0; i < count_; ++i) f(runs_[i].begin, runs_[i].end);
  }

 private:
  struct Run {
    uint64_t begin, end;
  };
  Run runs_[kWarpSize];
  size_t count_ = 0;
};

}  // namespace

void ClusterMonitor::memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (space == Space::local || space == Space::param) return;
  const bool peers = launch_.peer_memory && space == Space::shared_cluster;
  if (!launch_.full() && !launch_.ordering(op).strong && !peers) return;
  if (launch_.ordering(op).strong) {
    for_lanes(mask, [&](uint32_t lane) {
      const uint64_t a = lane_address(w, op, lane);
      const bool global = space == Space::global || (space == Space::generic && a >= window::kGlobalBase);
      if (global) strong_access(w, op, a, store);
      else if (space != Space::generic || is_shared_generic(a)) strong_access(w, op, shared_address(w, a, space != Space::shared_cta), store);
    });
  }
  if (!launch_.full() && !peers) return;
  state_of(w).clock.each_class(mask, [&](LaneMask lanes) { touch_lanes(w, op, lanes, space, bytes, store); });
}

// The accesses of lanes that have waited for the same events.
void ClusterMonitor::touch_lanes(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  WarpState& state = state_of(w);
  LaneRuns shared, global;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    if (space == Space::global || (space == Space::generic && a >= window::kGlobalBase)) {
      if (launch_.options.global_memory) global.add(a, bytes);
    } else if (space != Space::generic || is_shared_generic(a)) {
      shared.add(shared_address(w, a, space != Space::shared_cta), bytes);
    }
  });
  const uint32_t pc = pc_of(op);
  Access now = access_of(w, op, mask, is_atomic(op.opcode) || launch_.ordering(op).strong ? Agent::atomic : Agent::thread, store);
  now.unchanging = store && stores_what_is_there(w, op, mask);
  AccessId id = state.last_access;
  const Access& last = parts_.accesses[id];
  if (id == 0 || last.pc != pc || last.issued_at != now.issued_at || last.lanes != mask) id = state.last_access = parts_.accesses.add(now);
  MemoryShadow::Touch t{id, state.clock};
  shared.each([&](uint64_t begin, uint64_t end) {
    parts_.memory.touch({Memory::shared, shared_rank(static_cast<uint32_t>(begin)), shared_offset(static_cast<uint32_t>(begin)), end - begin}, t);
  });
  global.each([&](uint64_t begin, uint64_t end) { parts_.memory.touch({Memory::global, 0, begin, end - begin}, t); });
}

// A later access may acquire what this one released into the place.
void ClusterMonitor::strong_access(const Warp& w, const DecodedOp& op, uint64_t place, bool store) {
  const Ordering o = launch_.ordering(op);
  WarpClock& clock = state_of(w).clock;
  const auto rank = static_cast<uint16_t>(w.cta->rank);
  const bool loads = !store || isa::spec(op.opcode).memory == isa::MemoryRole::atomic;
  if (place >= window::kGlobalBase && launch_.follows_cross_cluster()) exchange_cross_cluster(launch_.cross_cluster_flags[place], parts_.warps.serial(), clock, o, loads, store);
  if (loads) parts_.flags.load(place, rank, o, clock);
  if (store) parts_.flags.store(place, rank, o, clock);
}

// Allocation makes the columns undefined; freeing counts as a use of all of them.
void ClusterMonitor::tensor_memory(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const WarpClock& clock = state_of(w).clock;
  if (op.sync == isa::SyncRole::tmem_alloc) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t at = shared_address(w, a, is_shared_generic(a)), columns = lanes<uint32_t>(w, op.src[1])[lane];
    parts_.memory.touch({Memory::shared, shared_rank(at), shared_offset(at), 4}, parts_.accesses.add(access_of(w, op, mask, Agent::alloc, true)), clock);
    uint32_t column = 0;
    std::memcpy(&column, w.cta->smem.data() + shared_offset(at), 4);
    parts_.memory.forget_columns(w.cta->rank, column, columns);
    return;
  }
  const TmemAddr at(lanes<uint32_t>(w, op.src[0])[lane]);
  const uint32_t columns = lanes<uint32_t>(w, op.src[1])[lane];
  const AccessId id = parts_.accesses.add(access_of(w, op, mask, Agent::dealloc, true));
  parts_.memory.touch({Memory::tmem, w.cta->rank, 0, 0, 0, kTmemLanes, at.column(), columns}, id, clock);
  parts_.memory.forget_columns(w.cta->rank, at.column(), columns);
}

// Tensor maps edited in global memory: the tensormap proxy reads them after a release and an acquire of its own
// (docs/facts/tma-mbarrier.md §3.2).
void ClusterMonitor::edit_map(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpClock& clock = state_of(w).clock;
  const auto release = [&] {
    clock.now.map_released.join(clock.now.seen);
    clock.tick();
  };
  switch (op.sync) {
    case isa::SyncRole::map_edit: memory(w, op, mask, op.as<payload::TensorMapEdit>().space, isa::kTensorMapBytes, true); break;
    case isa::SyncRole::map_copy: {
      const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
      const Src* s = slots_at(w, op.as<payload::TensorMapCopy>().first_slot);
      const uint32_t from = slot_shared_address(w, s + kAddressSlots, lane, false);
      const uint64_t to = slot_address(w, s, lane);
      parts_.memory.touch({Memory::shared, shared_rank(from), shared_offset(from), isa::kTensorMapBytes}, parts_.accesses.add(access_of(w, op, mask, Agent::thread, false)), clock);
      parts_.memory.touch({Memory::global, 0, to, isa::kTensorMapBytes}, parts_.accesses.add(access_of(w, op, mask, Agent::thread, true)), clock);
      release();
      break;
    }
    case isa::SyncRole::map_release: release(); break;
    default: clock.now.map_acquired.join(clock.now.map_released);  // map_acquire
  }
}

}  // namespace drywell::sim::check
