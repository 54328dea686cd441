// The checker of one cluster: passes events to its parts.
//   warps.h              each warp's clock (clock.h) and operations in flight (operation_queue.h, loaded_registers.h, registers.h)
//   mbarrier_ledger.h    mbarriers; barrier_instance.h: named and cluster barriers; flags.h, cross_cluster_flags.h: places of memory
//   memory_shadow.h      the writer and the readers of each cell
//   lifetimes.h          CTAs that begin and end
//   hang.h               why the cluster makes no progress
// The effects of executed instructions on them, by kind:
//   mbarrier_use.h, thread_barriers.h, fences.h, group_waits.h    the order that synchronisation makes
//   memory_accesses.h, tensor_allocation.h, map_edits.h           memory
//   async_operations.h   operations between issue and signal (flights.h)
//   register_use.h, convergence.h                                 registers; the lanes and warps that take part
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "sim/check/async_operations.h"
#include "sim/check/convergence.h"
#include "sim/check/fences.h"
#include "sim/check/group_waits.h"
#include "sim/check/hang.h"
#include "sim/check/map_edits.h"
#include "sim/check/mbarrier_use.h"
#include "sim/check/register_use.h"
#include "sim/check/tensor_allocation.h"
#include "sim/check/thread_barriers.h"

namespace drywell::sim::check {

class ClusterMonitor {
 public:
  /// The handler for an instruction's effects other than memory accesses and asynchronous operations; nullptr: there are none.
  static Reaction::Handler handler_of(const isa::InstrSpec& row, bool full);

  /// `known`: the memory that earlier clusters' operations accessed.
  ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known);

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask);
  void skipped(const Warp& w, const DecodedOp& op) { registers_.skipped(w, op); }
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) { accesses_.access(w, op, mask, space, bytes, store); }
  void mbarrier(const Cta& cta, uint32_t offset, MbarrierEvent what, int64_t amount);
  void async(const AsyncOp& op, AsyncMoment moment) { async_.moment(op, moment); }
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) { barriers_.arrive(w, id, b); }
  void finish(const Cta& cta);
  HangExplanation hang() const { return {parts_.cluster, parts_.mbarriers, parts_.accesses, parts_.warps}; }
  void blocked(const Warp& w) { mbarriers_.blocked(w); }

  /// Call once the cluster's CTAs have ended.
  void seal();
  /// Reports what waited for the cluster's end. Call once.
  void settle() { parts_.unused.finish(); }
  bool sealed() const { return parts_.warps.over(); }
  std::unique_ptr<KnownFootprints> take_footprints() { return async_.take_footprints(); }
  const Reporter& reporter() const { return parts_.reporter; }
  const GlobalShadow& global() const { return parts_.memory.global(); }
  const AccessTable& accesses() const { return parts_.accesses; }
  const StateTable& states() const { return parts_.memory.states(); }
  /// The byte's writer, and what was before it if it is an atomic; 0: none.
  std::array<AccessId, 2> last_writers(uint64_t address, bool shared) const { return parts_.memory.last_writers(address, shared); }
  /// mbarrier waits by pc: whether an execution ordered something new before its warp.
  const std::map<uint32_t, bool>& waits() const { return mbarriers_.waits(); }
  const RepeatedStores& repeated() const { return parts_.repeated; }
  const std::vector<Suspect>& suspects() const { return parts_.memory.suspects(); }
  const CrossClusterKnowledge& cross_cluster(uint32_t number) const { return parts_.warps.cross_cluster(number); }

 private:
  /// The handler that calls `effect` of the monitor's `part`.
  template <auto part, auto effect>
  static void apply(ClusterMonitor& m, const Warp& w, const DecodedOp& op, LaneMask mask) {
    (m.*part.*effect)(w, op, mask);
  }

  /// bar.warp.sync.
  static void meet(ClusterMonitor& m, const Warp& w, const DecodedOp& op, LaneMask mask);

  const LaunchState& launch_;
  ClusterParts parts_;
  AsyncOperations async_;
  MbarrierUse mbarriers_;
  ThreadBarriers barriers_;
  Fences fences_;
  GroupWaits waits_;
  MemoryAccesses accesses_;
  TensorAllocation allocation_;
  MapEdits maps_;
  RegisterUse registers_;
  Convergence convergence_;
  size_t running_ctas_;
};

}  // namespace drywell::sim::check
