// The cycles of a group's warps, each with one stall reason.
#pragma once

#include <array>
#include <vector>

#include "drywell/sim/stall.h"
#include "sim/timing/timing_context.h"
#include "sim/timing/warp_issue_state.h"

namespace drywell::sim {

/// Cycles and instructions of a group, summed over its SMs; summed over groups for the report.
struct Account {
  struct Line {
    uint64_t instructions = 0, cycles = 0;
  };
  Account(size_t roles, size_t source_lines) : role_cycles(roles), role_warps(roles), role_instructions(roles), lines(source_lines) {}

  std::vector<std::array<uint64_t, kStallCount>> role_cycles;
  std::vector<uint64_t> role_warps, role_instructions;
  std::vector<Line> lines;
  uint64_t instructions = 0;
};

class StallAccount {
 public:
  explicit StallAccount(const TimingContext& context);

  /// A warp begins at cycle `t`; its state has its sub-partition and role.
  void begin(WarpIssueState& w, Time t);
  void end(const WarpIssueState& w);

  /// Charges the cycles not accounted for yet, up to `until`, to `reason`.
  void charge(WarpIssueState& w, Stall reason, Time until) {
    if (until <= w.mark) return;
    w.stalls[static_cast<size_t>(reason)] += until - w.mark;
    if (observed_) announce(w, reason, until);
    w.mark = until;
  }
  /// Charges the cycles since the warp's last issue, when it issues `x` at `t`.
  void issue(WarpIssueState& w, const OpInfo& x, Time t);
  /// Charges the cycles since the warp blocked in `x`, when it continues at `t`.
  void resume(WarpIssueState& w, const OpInfo& x, Time t);
  /// Charges the cycles since the warp's last issue, when memory answers a load that it waits for.
  void answer(WarpIssueState& w, Time t);

  const Account& sums() const { return sums_; }

 private:
  void announce(const WarpIssueState& w, Stall reason, Time until) const;
  static void add(WarpIssueState& w, Stall reason, Time until);
  template <class Charge>
  static void charge_wait(const WarpIssueState& w, Time t, Charge&& charge);

  Account sums_;
  bool observed_;
};

}  // namespace drywell::sim
