// Watching a launch: an observer receives what happens in it, as events with the places they happened at. Derive from Observer, override what
// you want to know, and give RunOptions::observers its address:
//
//   class Loads : public Observer {
//    public:
//     void memory(const MemoryEvent& e) override { if (!e.store) bytes += e.bytes * std::popcount(e.lanes); }
//     uint64_t bytes = 0;
//   };
//
// Threads. A launch with observers runs on the thread that called Device::launch, and they receive one event at a time. One
// observer may watch launches one after the other; for launches at the same time, of two devices, give each its own.
// Order. Events of one warp, of one mbarrier and of one operation come in their order. How those of different owners interleave is
// up to the driver. Values never depend on observers.
// Lifetime. What an event points to lives as long as the call, a CodePoint as long as the launch.
// An observer must not throw, and must not touch the device while the launch runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/types.h"
#include "drywell/isa/instruction.h"
#include "drywell/sim/block_reason.h"
#include "drywell/sim/space.h"
#include "drywell/sim/span.h"
#include "drywell/sim/stall.h"

namespace drywell::sim {

/// What happened to an mbarrier.
enum class MbarrierEvent : uint8_t { init, inval, expect_tx, complete_tx, arrive, phase_complete, wait_true };
/// Moments of an asynchronous operation. issue: received before the instruction that issued it. read: it has read its operands. write:
/// it is about to write its result and to signal. signal: it is complete; mbarrier events that it caused were received in between.
enum class AsyncMoment : uint8_t { issue, read, write, signal };
/// What works asynchronously.
enum class AsyncKind : uint8_t {
  tensor_copy,      // cp.async.bulk.tensor, cp.reduce.async.bulk.tensor
  mma,              // tcgen05.mma
  tmem_copy,        // tcgen05.cp
  tmem_shift,       // tcgen05.shift
  commit,           // tcgen05.commit
  tmem_load_store,  // tcgen05.ld, tcgen05.st
  bulk_copy,        // cp.async.bulk, cp.reduce.async.bulk, st.bulk
  remote_store,     // st.async, red.async
  remote_arrive,    // mbarrier.arrive and the like on the barrier of another CTA
  async_copy,       // cp.async
  wgmma,            // wgmma.mma_async
  try_cancel,       // clusterlaunchcontrol.try_cancel
};
/// "tensor_copy", "mma", …: stable names.
std::string_view async_kind_name(AsyncKind k);

/// One instruction of the program that a launch runs.
struct CodePoint {
  uint32_t pc = 0;                                // from 0; functions lie one behind the other, the kernel first
  isa::Opcode opcode{};
  const isa::Function* function = nullptr;        // the kernel or a .func
  const isa::Instruction* instruction = nullptr;  // nullptr: the return behind a function's last instruction
  std::string text;                               // as PTX; "ret;" of that return
  SourcePos source;                               // the author's line; without a file: not known
};

struct CtaPlace {
  Dim3 index{0, 0, 0};    // %ctaid
  uint64_t cluster = 0;   // clusters of a grid are numbered x fastest
  uint32_t rank = 0;      // in the cluster
  uint32_t sm = 0;
};
struct WarpPlace {
  CtaPlace cta;
  uint32_t warp = 0;      // in the CTA
};

/// `now` in every event: the cluster's clock, cycles under the timed driver, else its warp instructions so far.
struct LaunchEvent {
  std::string_view kernel;
  Dim3 grid, block, cluster;
  uint32_t shared_bytes = 0;        // of a CTA's shared window: reserved, static and dynamic
  const isa::Module* module = nullptr;
  std::span<const CodePoint> code;  // by pc
};
/// The lanes of `lanes` executed an instruction. It has taken effect but for what is asynchronous.
struct InstructionEvent {
  WarpPlace who;
  LaneMask lanes = 0;
  const CodePoint& at;
  uint64_t now = 0;
};
/// The lanes of `lanes` are about to load or store `bytes` each. Addresses are not yet checked: a fault may follow.
struct MemoryEvent {
  WarpPlace who;
  LaneMask lanes = 0;
  const CodePoint& at;
  Space space = Space::generic;                  // as the instruction names it
  uint32_t bytes = 0;                            // of each lane; of ldmatrix and stmatrix: of each row, whose lanes give addresses
  bool store = false;                            // stores and atomics
  std::array<uint64_t, kWarpSize> addresses{};   // in `space`; 0 for lanes not in `lanes`
  uint64_t now = 0;
};
/// An mbarrier changed: its state is that after the event.
struct MbarrierChange {
  CtaPlace cta;
  uint32_t offset = 0;           // in the CTA's shared window, bytes
  MbarrierEvent what{};
  int64_t amount = 0;            // arrivals, bytes, init: the count; wait_true: the parity waited for
  uint64_t phase = 0;            // number of the phase that is incomplete now
  uint32_t pending = 0;          // arrivals it still waits for
  uint32_t expected = 0;         // arrivals of a phase
  int32_t tx = 0;                // bytes expected minus bytes complete
  uint64_t now = 0;
};
/// An operation came to a moment.
struct AsyncEvent {
  uint64_t id = 0;               // from 1, in the order of issue within the cluster
  AsyncKind kind{};
  AsyncMoment moment{};
  WarpPlace issuer;
  uint32_t lane = 0;             // that issued it
  const CodePoint& at;           // the instruction that issued it
  /// With the issue, if ObserverWants::spans: all it will read and write, as far as that is known then; signals on mbarriers are
  /// not counted. Spans may touch or overlap. Empty at other moments, and for operations that are wrong and will fault.
  std::span<const Span> reads, writes;
  uint64_t now = 0;
};
/// A warp arrived at a named barrier: its state is that after the arrival.
struct NamedBarrierEvent {
  WarpPlace who;
  uint32_t id = 0;
  uint32_t expected = 0, arrived = 0;  // threads; both 0 when the arrival completed the barrier
  uint64_t completed = 0;              // times it was completed so far
  uint64_t now = 0;
};
/// A warp came to an instruction that it cannot execute yet.
struct BlockedEvent {
  WarpPlace who;
  const CodePoint& at;
  BlockReason reason{};
  uint64_t now = 0;
};
/// Timed driver: the warp did not issue in cycles [from, to), for one reason.
struct StallEvent {
  WarpPlace who;
  Stall why{};
  uint64_t from = 0, to = 0;
};
struct CtaEvent {
  CtaPlace cta;
  uint64_t now = 0;
};

/// What an observer receives; an event that no observer wants costs nothing. Events that are not listed here are few and always sent.
struct ObserverWants {
  bool instructions = true;
  bool memory = true;   // loads and stores of warps
  bool waits = true;    // MbarrierEvent::wait_true
  bool spans = true;    // AsyncEvent::reads and writes
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Asked once per launch, before it starts.
  virtual ObserverWants wants() const { return {}; }
  virtual void launch_started(const LaunchEvent&) {}
  /// Also after a fault.
  virtual void launch_finished() {}
  virtual void cta_started(const CtaEvent&) {}
  virtual void cta_finished(const CtaEvent&) {}
  virtual void instruction(const InstructionEvent&) {}
  virtual void memory(const MemoryEvent&) {}
  virtual void mbarrier(const MbarrierChange&) {}
  virtual void async(const AsyncEvent&) {}
  virtual void named_barrier(const NamedBarrierEvent&) {}
  virtual void blocked(const BlockedEvent&) {}
  virtual void stalled(const StallEvent&) {}
};

}  // namespace drywell::sim
