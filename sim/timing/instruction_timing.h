// The delays after an executed instruction: when its warp may issue again, and when its results are ready.
#pragma once

#include <vector>

#include "sim/timing/memory_instructions.h"
#include "sim/timing/wake_list.h"

namespace drywell::sim {

/// An instruction that has executed.
struct Executed {
  const OpInfo& op;
  uint32_t pc;
  LaneMask mask;    // lanes that executed it
  LaneMask active;  // lanes that came to it
  Time at;
  bool resumed;                    // the instruction blocked before, and does not issue again
  double barrier_arrival;          // named barriers: the cycle at which the arrival reaches the unit
  const LaneAddresses& addresses;  // of memory instructions, from before it ran
  uint64_t operations = 1;         // asynchronous operations that it issued
};

class InstructionTiming {
 public:
  InstructionTiming(const TimingContext& context, std::vector<SmUnits>& sms, const Pipes& pipes, MemoryPort& memory)
      : context_(context), arch_(*context.arch), sms_(sms), pipes_(pipes), memory_(context, sms, pipes, memory) {}

  /// Warp number `id` executed the instruction; `waits` is its cluster's list.
  void complete(WarpIssueState& w, uint32_t id, WakeList& waits, const Executed& e);
  /// An arrival that releases at cluster scope has a fence before it: returns the fence's cycles.
  Time fence_before(const OpInfo& x) const { return x.fenced ? static_cast<Time>(arch_.cost(isa::TimingClass::fence_gpu).latency) : 0; }
  /// The cycle at which the named barrier's waiters continue after its last arrival.
  Time release(double barrier_arrival) const { return ceil_time(barrier_arrival + arch_.barrier.cta_base); }

 private:
  double groups(const WarpIssueState& w, const Executed& e) const;
  void exchange(WarpIssueState& w, const Executed& e);
  void local(WarpIssueState& w, const Executed& e);
  void branch(WarpIssueState& w, const Executed& e);
  void meet(WarpIssueState& w, const Executed& e) const;
  void async(WarpIssueState& w, const Executed& e);
  void hold(WarpIssueState& w, WakeList& waits, const Executed& e);
  void cluster_barrier(WarpIssueState& w, WakeList& waits, const Executed& e);
  void sleep(WarpIssueState& w, const Executed& e);
  void wait(WarpIssueState& w, const Executed& e);
  void barrier(WarpIssueState& w, const Executed& e);
  Time parameters_there(SmUnits& sm, Time t) const;
  Time hoisted(const WarpIssueState& w, const OpInfo& x, Time ready) const;
  void set(WarpIssueState& w, const OpInfo& x, Time ready, Stall why) const { w.registers.set(context_.program->operands(x).writes, ready, why, x.unit); }
  void hold_until(WarpIssueState& w, Time t, Stall why) const;

  const TimingContext& context_;
  const ArchConfig& arch_;
  std::vector<SmUnits>& sms_;
  const Pipes& pipes_;
  MemoryInstructions memory_;
};

}  // namespace drywell::sim
