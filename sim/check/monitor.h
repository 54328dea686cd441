// The checker of one cluster: passes events to its parts.
//   warps.h            each warp's clock (clock.h) and operations in flight (operation_queue.h, loaded_registers.h, registers.h)
//   mbarrier_ledger.h  mbarriers; barrier_instance.h: named and cluster barriers; flags.h, cross_cluster_flags.h: places of memory
//   memory_shadow.h    the writer and the readers of each cell
//   async_operations.h operations between issue and signal (flights.h)
//   lifetimes.h        CTAs that begin and end
//   hang.h             why the cluster makes no progress
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "sim/check/async_operations.h"
#include "sim/check/barrier_instance.h"
#include "sim/check/hang.h"

namespace drywell::sim::check {

class ClusterMonitor {
 public:
  /// The handler for an instruction's effects other than memory accesses and asynchronous operations; nullptr: there are none.
  static decltype(Reaction::handle) handler_of(isa::SyncRole op, bool full);

  /// `known`: the memory that earlier clusters' operations accessed.
  ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known);

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask);
  void skipped(const Warp& w, const DecodedOp& op);
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);
  void mbarrier(const Cta& cta, uint32_t offset, MbarrierEvent e, int64_t amount);
  void async(const AsyncOp& op, AsyncMoment moment) { async_.moment(op, moment); }
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b);
  void finish(const Cta& cta);
  HangExplanation hang() const { return {parts_.cluster, parts_.mbarriers, parts_.accesses, parts_.warps}; }
  void blocked(const Warp& w);

  /// Call once the cluster's CTAs have ended.
  void seal();
  bool sealed() const { return parts_.warps.over(); }
  std::unique_ptr<KnownFootprints> take_footprints() { return async_.take_footprints(); }
  const Reporter& reporter() const { return parts_.reporter; }
  const GlobalShadow& global() const { return parts_.memory.global(); }
  const AccessTable& accesses() const { return parts_.accesses; }
  const StateTable& states() const { return parts_.memory.states(); }
  /// mbarrier waits by pc: whether an execution ordered something new before its warp.
  const std::map<uint32_t, bool>& waits() const { return waits_; }
  const std::vector<Suspect>& suspects() const { return parts_.memory.suspects(); }
  const CrossClusterKnowledge& cross_cluster(uint32_t number) const { return parts_.warps.cross_cluster(number); }

 private:
  /// An instruction's effect on an mbarrier.
  struct BarrierEvent {
    uint32_t address;
    MbarrierEvent what;
    int64_t amount;
  };

  uint32_t pc_of(const DecodedOp& op) const { return static_cast<uint32_t>(launch_.pc_of(op)); }
  WarpState& state_of(const Warp& w) { return parts_.warps.of(w); }
  Access access_of(const Warp& w, const DecodedOp& op, LaneMask lanes, Agent agent, bool write) { return parts_.warps.access(w, pc_of(op), lanes, agent, write); }

  // dispatch.cpp: effects of instructions, as handler_of names them
  void unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what);
  void note_register_use(const Warp& w, const DecodedOp& op, WarpState& state);
  void after_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_named_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_cluster_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_warp_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_load_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_store_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_bulk_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_copy_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_product_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  void grid_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  // memory.cpp
  void touch_lanes(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);
  void tensor_memory(const Warp& w, const DecodedOp& op, LaneMask mask);
  void edit_map(const Warp& w, const DecodedOp& op, LaneMask mask);
  void strong_access(const Warp& w, const DecodedOp& op, uint64_t place, bool store);
  // converge.cpp
  void one_lane(const Warp& w, const DecodedOp& op, LaneMask mask);
  void check_commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  void set_registers(const Warp& w, const DecodedOp& op, LaneMask mask);
  void finish_convergence(const Cta& cta);
  // sync.cpp
  void barrier_events(const Warp& w, const DecodedOp& op, LaneMask mask);
  void init(const BarrierEvent& e, const Warp& w, const DecodedOp& op, LaneMask mask);
  void inval(const BarrierEvent& e, const Warp& w, const DecodedOp& op, LaneMask mask);
  void arrive(const BarrierEvent& e, const WarpClock& clock, Ordering o, const Access& who);
  void check_own_address(const Warp& w, const DecodedOp& op, LaneMask mask);
  void wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void guess(WarpState& state, const MbarrierLedger::Told& told, const Access& who);
  void finish_guesses(const Cta& cta);
  void fence(const Warp& w, const DecodedOp& op, LaneMask mask);
  void cluster_barrier(const Warp& w, const DecodedOp& op);
  void close_cluster_barrier();

  const LaunchState& launch_;
  ClusterParts parts_;
  AsyncOperations async_;
  size_t running_ctas_;
  std::vector<BarrierEvent> events_;  // of the instruction in execution
  std::map<uint32_t, bool> waits_;
  std::vector<std::array<BarrierInstance, 16>> named_;  // by CTA and number
  BarrierInstance cluster_barrier_;
  uint64_t cluster_generation_ = 0;
};

}  // namespace drywell::sim::check
