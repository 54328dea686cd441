// CTA, cluster and launch state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/instruction.h"
#include "sim/state/async_op.h"
#include "sim/state/gmem.h"
#include "sim/state/launch_queue.h"
#include "sim/state/mbarrier.h"
#include "sim/state/output.h"
#include "sim/state/state_vector.h"
#include "sim/state/tmem.h"
#include "sim/state/warp.h"

namespace drywell::sim {

struct ArchConfig;
struct Program;
class ObserverHub;
struct Cluster;

/// Size of the system-reserved part at the bottom of each CTA's shared window: the first variable of a kernel is at 0x400
/// (docs/facts/tma-mbarrier.md §5).
inline constexpr uint32_t kSmemReserved = 1024;
/// Shared addresses: CTA rank in bits 24..31, offset in bits 0..23 (docs/facts/tma-mbarrier.md §5).
inline constexpr uint32_t kSharedOffsetMask = 0x00FFFFFF;
constexpr uint32_t shared_rank(uint32_t address) { return address >> 24; }
constexpr uint32_t shared_offset(uint32_t address) { return address & kSharedOffsetMask; }
constexpr uint32_t cluster_address(uint32_t rank, uint32_t offset) { return rank << 24 | offset; }

/// Shared memory of one CTA, with its mbarriers. While a barrier is live, its bytes keep the values of the last ordinary
/// stores; the barrier's state is in `barriers_` (docs/facts/tma-mbarrier.md §1.6).
class Smem {
 public:
  // Not inline, as Warp's.
  Smem();
  Smem(const Smem&);
  Smem(Smem&&) noexcept;
  Smem& operator=(const Smem&);
  Smem& operator=(Smem&&) noexcept;
  ~Smem();

  void reset(uint32_t bytes, StateMemory* memory = nullptr);  // size including the reserved part
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
  uint8_t* data() { return bytes_.data(); }
  const uint8_t* data() const { return bytes_.data(); }
  bool contains(uint32_t offset, uint64_t count) const { return offset <= bytes_.size() && count <= bytes_.size() - offset; }
  /// The barrier at `offset`, or nullptr if none was ever initialised there.
  Mbarrier* find_mbarrier(uint32_t offset);
  Mbarrier& make_mbarrier(uint32_t offset);
  struct Slot {
    uint32_t offset;
    Mbarrier barrier;
  };
  const std::vector<Slot>& mbarriers() const { return barriers_; }

 private:
  StateVector<uint8_t> bytes_;
  std::vector<Slot> barriers_;  // few; searched linearly, most recent first
};

/// Hardware named barrier (PTX ISA 9.7.13.1).
struct NamedBarrier {
  uint32_t expected = 0;  // threads of the current instance; 0 = idle
  uint32_t arrived = 0;
  uint64_t generation = 0;     // instances completed
  uint64_t arrived_warps = 0;  // bit per warp that arrived in this instance
  bool whole_cta = false;      // no arrival had a thread count: threads that have exited do not count
  uint32_t reduce_count = 0;   // bar.red.popc
  bool reduce_and = true, reduce_or = false;
  uint32_t last_count = 0;  // results of the completed instance
  bool last_and = true, last_or = false;
};

/// The operand that last filled a collector buffer of the tensor core (PTX ISA 9.7.16.10.9). Values are always read
/// from memory; this state serves to detect uses without a fill.
struct CollectorBuffer {
  bool filled = false;
  uint64_t operand = 0;  // descriptor or TMEM address
  uint32_t idesc = 0;
};

struct Cta {
  Cluster* cluster = nullptr;
  uint32_t rank = 0;    // in the cluster
  Dim3 index{0, 0, 0};  // %ctaid
  uint32_t sm = 0;
  uint64_t serial = 0;  // unique in the launch: TMEM ownership
  Smem smem;
  Tmem* tmem = nullptr;  // of the SM on which the CTA runs
  std::unique_ptr<Tmem> own_tmem;
  std::array<NamedBarrier, 16> barriers{};
  std::vector<Warp> warps;
  uint32_t live_warps = 0;
  bool alloc_permit_given_up = false;
  uint8_t cta_group_used = 0;                   // 1 or 2 once a tcgen05 instruction ran
  uint32_t pair_request = 0, pair_warp = 0;     // tcgen05.alloc.cta_group::2 waiting for the peer: columns, warp
  std::array<CollectorBuffer, 5> collectors{};  // a, b0..b3; a pair uses those of its even CTA
  uint32_t register_pool = 0;                   // setmaxnreg: registers released and not yet acquired
  bool cancel_failed = false;                   // a failed try_cancel was observed
  uint64_t wake_epoch = 0;                      // incremented by every event that may unblock a warp of this CTA
  bool started = false;
};

/// A barrier without a thread count is complete when every warp that has not exited has arrived (PTX ISA 9.7.13.1; H200). A barrier with
/// a count waits for that many threads even if some have exited: an H200 hangs in that case.
inline bool everyone_arrived(const Cta& cta, const NamedBarrier& b) {
  if (b.expected == 0) return false;
  if (!b.whole_cta) return b.arrived >= b.expected;
  return std::all_of(cta.warps.begin(), cta.warps.end(), [&](const Warp& w) { return w.alive == 0 || (b.arrived_warps >> (w.index & 63) & 1) != 0; });
}

class L2Contents;

/// The data that all clusters of a launch share and that do not change while it runs.
struct Launch {
  const ArchConfig* arch = nullptr;
  const Program* program = nullptr;
  Gmem* gmem = nullptr;
  ObserverHub* observers = nullptr;  // nullptr: no observer is attached
  LaunchQueue* queue = nullptr;      // clusters that have not started
  OutputLog* output = nullptr;       // output of vprintf; nullptr: discarded
  StateMemory* memory = nullptr;     // allocator for CTA state; nullptr: the heap
  L2Contents* l2 = nullptr;          // what earlier launches left; nullptr: nothing
  Dim3 grid, block, cluster;
  uint32_t dynamic_smem = 0;
  uint32_t smem_bytes = 0;  // reserved + static + dynamic
  std::vector<uint8_t> params;
  uint32_t sm_count = 1;
  uint64_t clocks = 0;                   // value of the SMs' clocks when it starts: they run on from launch to launch
  uint32_t estimated_registers = 0;      // of a thread; used where no directive says them
  bool threads = false;                  // several host threads run its clusters at the same time
  uint64_t frames_until = ~uint64_t{0};  // bytes of host memory: calls get no new frames while the process holds more
};

/// A cluster of CTAs and its asynchronous operations in flight. The unit of functional simulation.
struct Cluster {
  const Launch* launch = nullptr;
  uint64_t index = 0;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::vector<AsyncOp> pending;  // in issue order
  uint64_t next_op = 1;
  uint64_t progress = 0;  // incremented by every event that can change the result of a wait
  // barrier.cluster
  uint64_t cluster_generation = 0;  // instances completed
  uint64_t cluster_ordered = 0;     // operations with a lower id were issued before the last instance was complete
  bool eager = true;                // operations run at issue if none of their dependencies is pending
  uint64_t now = 0;                 // clock registers: cycles (timed) or instructions (functional)

  Cta& cta(uint32_t rank) { return *ctas[rank]; }
  void wake(Cta& c) {
    ++c.wake_epoch;
    ++progress;
  }
  void wake_all() {
    for (auto& c : ctas) wake(*c);
  }
};

}  // namespace drywell::sim
