#include "sim/schedule/look_ahead.h"

#include "sim/exec/closed_waits.h"
#include "sim/schedule/warp_runner.h"

namespace drywell::sim {
namespace {

constexpr int kMostSteps = 2'000;

/// While it lives, the cluster's launch has no observers.
class Unobserved {
 public:
  explicit Unobserved(Cluster& c) : cluster_(c), given_(c.launch), quiet_(*c.launch) {
    quiet_.observers = nullptr;
    c.launch = &quiet_;
  }
  ~Unobserved() { cluster_.launch = given_; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Cluster& cluster_;
  const Launch* given_;
  Launch quiet_;
};

Warp copy_of(const Warp& w, const LaneGroup& group) {
  Warp copy = w;
  copy.waiting.clear();
  copy.pc = group.pc;
  copy.alive = copy.active = group.lanes;
  copy.held_back = 0;
  return copy;
}

void step(Warp& w, const Program& p) {
  if (p.code[w.pc].sync == isa::SyncRole::warp_barrier) return void(++w.pc);
  w.timed_out = true;  // a try_wait answers, and does not suspend
  run_one(w, p);
}

}  // namespace

std::optional<Warp> look_ahead(const Warp& w, const LaneGroup& group, uint32_t pc) {
  if (group.lanes == 0 || group.frame != w.frame) return std::nullopt;
  const Program& p = *w.cta->cluster->launch->program;
  std::optional<Warp> copy = copy_of(w, group);
  const Unobserved quiet(*w.cta->cluster);
  for (int i = 0; i < kMostSteps && !copy->finished(); ++i) {
    if (copy->pc == pc) return copy;
    if (!changes_registers_only(p.code[copy->pc]) || p.code[copy->pc].flow == isa::Flow::return_ || p.code[copy->pc].flow == isa::Flow::end) break;
    step(*copy, p);
  }
  return std::nullopt;
}

}  // namespace drywell::sim
