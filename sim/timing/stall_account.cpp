#include "sim/timing/stall_account.h"

#include <algorithm>

#include "sim/events/hub.h"

namespace drywell::sim {

StallAccount::StallAccount(const TimingContext& context) : sums_(context.roles.size(), context.program->lines.size()), observed_(context.launch->observers != nullptr) {}

void StallAccount::begin(WarpIssueState& w, Time t) {
  w.stalls = sums_.role_cycles[w.role].data();
  w.mark = t;
  ++sums_.role_warps[w.role];
}

void StallAccount::end(const WarpIssueState& w) {
  sums_.role_instructions[w.role] += w.warp->instructions;
  sums_.instructions += w.warp->instructions;
}

void StallAccount::announce(const WarpIssueState& w, Stall reason, Time until) const {
  if (reason != Stall::issued && reason != Stall::finished) w.warp->cta->cluster->launch->observers->stalled(*w.warp, reason, w.mark, until);
}

// Without a listener every reason is charged, most with no cycles: a processor could not predict branches on the reasons that a warp had.
void StallAccount::add(WarpIssueState& w, Stall reason, Time until) {
  const Time end = std::max(w.mark, until);
  w.stalls[static_cast<size_t>(reason)] += end - w.mark;
  w.mark = end;
}

template <class Charge>
void StallAccount::charge_wait(const WarpIssueState& w, Time t, Charge&& charge) {
  charge(w.hold_reason, std::min(w.hold, t));
  charge(w.wait_reason, std::min(w.ready, t));
  charge(Stall::pipe_busy, std::min(w.admitted, t));
  charge(Stall::not_selected, t);
  charge(Stall::issued, t + 1);
}

void StallAccount::issue(WarpIssueState& w, const OpInfo& x, Time t) {
  const Time before = w.mark;
  if (observed_)
    charge_wait(w, t, [&](Stall reason, Time until) { charge(w, reason, until); });
  else
    charge_wait(w, t, [&](Stall reason, Time until) { add(w, reason, until); });
  Account::Line& line = sums_.lines[x.line];
  ++line.instructions;
  line.cycles += w.mark - before;
}

void StallAccount::resume(WarpIssueState& w, const OpInfo& x, Time t) {
  const Time before = w.mark;
  charge(w, w.hold_reason, std::min(w.hold, t));
  charge(w, w.wait_reason, t);
  sums_.lines[x.line].cycles += w.mark - before;
}

void StallAccount::answer(WarpIssueState& w, Time t) {
  charge(w, w.hold_reason, std::min(w.hold, t));
  charge(w, Stall::memory, t);
}

}  // namespace drywell::sim
