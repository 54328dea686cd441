// Loads, stores and atomics: their addresses determine their path and when their results are ready.
#pragma once

#include <vector>

#include "drywell/sim/access.h"
#include "sim/timing/memory_port.h"
#include "sim/timing/pipes.h"
#include "sim/timing/timing_context.h"
#include "sim/timing/warp_issue_state.h"

namespace drywell::sim {

class MemoryInstructions {
 public:
  MemoryInstructions(const TimingContext& context, std::vector<SmUnits>& sms, const Pipes& pipes, MemoryPort& memory)
      : context_(context), arch_(*context.arch), sms_(sms), pipes_(pipes), memory_(memory) {}

  /// Warp number `id` executed `x` with those addresses at `t`.
  void execute(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, Time t);
  void without_lanes(WarpIssueState& w, const OpInfo& x, Time t);

 private:
  void remote(WarpIssueState& w, const OpInfo& x, const LaneAddresses& a, Time t);
  void shared(WarpIssueState& w, const OpInfo& x, const LaneAddresses& a, Time t);
  void global(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, Time t);
  double shared_latency(const OpInfo& x) const;
  static double atomic_wavefronts(const OpInfo& x, const LaneAddresses& a);
  static double matrix_passes(const OpInfo& x, const LaneAddresses& a);
  double passes_of(const OpInfo& x, const LaneAddresses& a) const;
  double fragment_passes(const OpInfo& x, const LaneAddresses& a, double least) const;
  double wavefronts(const OpInfo& x, const LaneAddresses& a, uint32_t lines) const;
  uint32_t sectors_from(uint32_t first_run) const;
  void keep_stored(SmUnits& sm, uint32_t first_run);
  double leaving(const OpInfo& x, uint32_t first_run, uint32_t lines) const;
  double leaves(SmUnits& sm, double start) const;
  WaitingLoad begin_load(WarpIssueState& w, uint32_t id, const OpInfo& x) const;
  bool served_by_l1(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, double start, uint32_t first);
  uint32_t await(WarpIssueState& w, uint32_t id, const OpInfo& x, uint32_t first_run);
  void set(WarpIssueState& w, const OpInfo& x, Time ready) const { w.registers.set(context_.program->operands(x).writes, ready, Stall::memory); }
  SmUnits& sm_of(const WarpIssueState& w) { return sms_[w.sm]; }

  const TimingContext& context_;
  const ArchConfig& arch_;
  std::vector<SmUnits>& sms_;
  const Pipes& pipes_;
  MemoryPort& memory_;
  std::vector<ByteRange> missing_;  // of the load that is executed
};

}  // namespace drywell::sim
