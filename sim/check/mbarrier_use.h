// Instructions on mbarriers: what their arrivals release and their waits acquire.
#pragma once

#include <map>
#include <vector>

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class MbarrierUse {
 public:
  explicit MbarrierUse(ClusterParts& parts) : parts_(parts) {}

  /// The instruction in execution changes the object at that shared address.
  void event(uint32_t address, MbarrierEvent what, int64_t amount);
  /// That instruction has executed: its events take effect.
  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// test_wait and try_wait: lanes for which it returned true acquire the phase.
  void wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// The warp waits for a phase that is not complete.
  void blocked(const Warp& w);
  /// The CTA has ended: reports waits whose answer its program did not test.
  void finish(const Cta& cta);
  /// The waits by pc: whether any of their executions gave its warp an order that it did not have before.
  const std::map<uint32_t, bool>& waits() const { return waits_; }

 private:
  struct Event {
    uint32_t address;
    MbarrierEvent what;
    int64_t amount;
  };
  void join_lanes(WarpState& state, uint32_t address, LaneMask mask, LaneMask alive);
  void init(const Event& e, const Warp& w, const DecodedOp& op, LaneMask mask);
  void inval(const Event& e, const Warp& w, const DecodedOp& op, LaneMask mask);
  void arrive(const Event& e, const WarpClock& clock, Ordering o, const Access& who);
  struct Asked {
    uint32_t address, parity;
    LaneMask lanes;
  };
  std::vector<Asked> asked(const Warp& w, const DecodedOp& op, LaneMask done) const;
  void pass(const Warp& w, const DecodedOp& op, LaneMask mask, const Asked& asked);
  static void note_phase(WarpState::Repeated& r, uint32_t phase, LaneMask lanes);
  void acquire(const Warp& w, const MbarrierLedger::Observed& observed, LaneMask lanes, Ordering o);
  void guess(WarpState& state, const MbarrierLedger::Observed& observed, const Access& who);

  ClusterParts& parts_;
  std::vector<Event> events_;  // of the instruction in execution
  std::map<uint32_t, bool> waits_;
};

}  // namespace drywell::sim::check
