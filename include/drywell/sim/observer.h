// Observation of a launch: an observer receives events with their locations. Derive from Observer, override the functions
// of the events you need, and put its address into RunOptions::observers:
//
//   class Loads : public Observer {
//    public:
//     void memory(const MemoryEvent& e) override { if (!e.store) bytes += e.bytes * std::popcount(e.lanes); }
//     uint64_t bytes = 0;
//   };
//
// Threads. A launch with observers runs on the thread that called Device::launch, and observers receive one event at a time. One
// observer may serve several launches one after the other; concurrent launches of two devices need separate observers.
// Order. Events of one warp, of one mbarrier and of one operation arrive in their order. The driver determines how events of
// different owners interleave. Values never depend on observers.
// Lifetime. Data that an event points to is valid during the call, a CodePoint during the launch.
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

/// Kind of an mbarrier event.
enum class MbarrierEvent : uint8_t {
  init,
  inval,
  expect_tx,
  complete_tx,
  arrive,
  phase_complete,
  wait_true
};
/// Moments of an asynchronous operation. issue: received before the event of the issuing instruction. read: its operands are read. write:
/// it is about to write its result and to signal. signal: it is complete; the mbarrier events that it caused were received in between.
enum class AsyncMoment : uint8_t {
  issue,
  read,
  write,
  signal
};
/// Kind of an asynchronous operation; async_kinds.inc has the instructions of each.
enum class AsyncKind : uint8_t {
#define ASYNC_KIND(KIND_, PAYLOAD_, UNIT_) KIND_,
#include "drywell/sim/async_kinds.inc"
#undef ASYNC_KIND
};
/// "tensor_copy", "mma", …: stable names.
std::string_view async_kind_name(AsyncKind k);

/// One instruction of the program that a launch runs.
struct CodePoint {
  uint32_t pc = 0;                                // from 0; functions are consecutive, the kernel first
  isa::Opcode opcode{};                           // its row
  const isa::Function* function = nullptr;        // the kernel or a .func
  const isa::Instruction* instruction = nullptr;  // nullptr: the implicit return after a function's last instruction
  std::string text;                               // as PTX; "ret;" for that return
  SourcePos source;                               // the author's line; without a file: not available
};

/// A CTA of the running launch.
struct CtaPlace {
  Dim3 index{0, 0, 0};   // %ctaid
  uint64_t cluster = 0;  // clusters of a grid are numbered x fastest
  uint32_t rank = 0;     // in the cluster
  uint32_t sm = 0;       // %smid; functional drivers: CTA number modulo the SMs
};
/// A warp of the running launch.
struct WarpPlace {
  CtaPlace cta;       // the CTA
  uint32_t warp = 0;  // in the CTA
};

/// `now` in every event: the cluster's clock; cycles under the timed driver, otherwise the cluster's warp instructions so far.
struct LaunchEvent {
  std::string_view kernel;              // name of the entry
  Dim3 grid, block, cluster;            // CTAs, threads, CTAs of a cluster
  uint32_t shared_bytes = 0;            // of a CTA's shared window: reserved, static and dynamic
  const isa::Module* module = nullptr;  // the loaded module
  std::span<const CodePoint> code;      // by pc
};
/// The lanes of `lanes` executed an instruction. Its effects are complete, except for asynchronous operations.
struct InstructionEvent {
  WarpPlace who;        // the warp
  LaneMask lanes = 0;   // bit l: lane l
  const CodePoint& at;  // the instruction
  uint64_t now = 0;     // the cluster's clock
};
/// The lanes of `lanes` are about to load or store `bytes` each. Addresses are not yet checked: a fault may follow.
struct MemoryEvent {
  WarpPlace who;                                // the warp
  LaneMask lanes = 0;                           // bit l: lane l
  const CodePoint& at;                          // the instruction
  Space space = Space::generic;                 // the space in the instruction
  uint32_t bytes = 0;                           // per lane; ldmatrix and stmatrix: per row, for the lanes that provide row addresses
  bool store = false;                           // stores and atomics
  std::array<uint64_t, kWarpSize> addresses{};  // in `space`; 0 for lanes not in `lanes`
  uint64_t now = 0;                             // the cluster's clock
};
/// An mbarrier changed; the event has the state after the change.
struct MbarrierChange {
  CtaPlace cta;           // the CTA
  uint32_t offset = 0;    // in the CTA's shared window, bytes
  MbarrierEvent what{};   // the kind of change
  int64_t amount = 0;     // arrivals, bytes, init: the count; wait_true: the parity waited for
  uint64_t phase = 0;     // number of the phase that is incomplete now
  uint32_t pending = 0;   // pending arrivals
  uint32_t expected = 0;  // expected arrivals per phase
  int32_t tx = 0;         // bytes expected minus bytes complete
  uint64_t now = 0;       // the cluster's clock
};
/// An operation reached a moment.
struct AsyncEvent {
  uint64_t id = 0;       // from 1, in the order of issue within the cluster
  AsyncKind kind{};      // of the operation
  AsyncMoment moment{};  // that it reached
  WarpPlace issuer;      // the warp that issued it
  uint32_t lane = 0;     // the issuing lane
  const CodePoint& at;   // the issuing instruction

  /// At issue, if ObserverWants::spans: all memory that it will read and write, as far as determined at issue; signals on mbarriers are
  /// not included. Spans may touch or overlap. Empty at other moments, and for invalid operations that will fault.
  std::span<const Span> reads, writes;  // by the operation
  uint64_t now = 0;                     // the cluster's clock
};
/// A warp arrived at a named barrier; the event has the state after the arrival.
struct NamedBarrierEvent {
  WarpPlace who;                       // the warp
  uint32_t id = 0;                     // of the barrier, 0 to 15
  uint32_t expected = 0, arrived = 0;  // threads; both 0 when the arrival completed the barrier
  uint64_t completed = 0;              // completed instances so far
  uint64_t now = 0;                    // the cluster's clock
};
/// A warp reached an instruction that it cannot execute yet.
struct BlockedEvent {
  WarpPlace who;         // the warp
  const CodePoint& at;   // the instruction
  BlockReason reason{};  // what it waits for
  uint64_t now = 0;      // the cluster's clock
};
/// Timed driver: the warp did not issue in cycles [from, to), for one reason.
struct StallEvent {
  WarpPlace who;              // the warp
  Stall why{};                // the reason
  uint64_t from = 0, to = 0;  // cycles
};
/// A CTA began or ended.
struct CtaEvent {
  CtaPlace cta;      // the CTA
  uint64_t now = 0;  // the cluster's clock
};

/// Events that an observer receives; an event that no observer wants costs nothing. Events not listed here are rare and always sent.
struct ObserverWants {
  bool instructions = true;  // Observer::instruction
  bool memory = true;        // loads and stores of warps
  bool waits = true;         // MbarrierEvent::wait_true
  bool spans = true;         // AsyncEvent::reads and writes
};

/// Base of observers; every function does nothing unless it is overridden.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called once per launch, before it starts.
  virtual ObserverWants wants() const { return {}; }
  /// Before the first CTA begins.
  virtual void launch_started(const LaunchEvent&) {}
  /// Also after a fault.
  virtual void launch_finished() {}
  /// A CTA is resident; its warps have not run.
  virtual void cta_started(const CtaEvent&) {}
  /// All warps of its cluster have exited, and the cluster's operations are complete.
  virtual void cta_finished(const CtaEvent&) {}
  /// A warp executed an instruction.
  virtual void instruction(const InstructionEvent&) {}
  /// A warp is about to load or store.
  virtual void memory(const MemoryEvent&) {}
  /// An mbarrier changed, or a wait returned true.
  virtual void mbarrier(const MbarrierChange&) {}
  /// An asynchronous operation reached a moment.
  virtual void async(const AsyncEvent&) {}
  /// A warp arrived at a named barrier.
  virtual void named_barrier(const NamedBarrierEvent&) {}
  /// A warp cannot go on.
  virtual void blocked(const BlockedEvent&) {}
  /// Timed driver only: cycles in which a warp did not issue.
  virtual void stalled(const StallEvent&) {}
};

}  // namespace drywell::sim
