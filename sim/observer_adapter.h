// Passes the events that a listener receives to a public Observer.
#pragma once

#include <vector>

#include "drywell/sim/observer.h"
#include "sim/events/hub.h"

namespace drywell::sim {

class ObserverAdapter : public Listener {
 public:
  explicit ObserverAdapter(Observer& to) : to_(to), wants_(to.wants()) {}

  bool wants_memory() const override { return wants_.memory; }
  bool wants_instruction(const Program&, const DecodedOp&) const override { return wants_.instructions; }
  bool wants_waits() const override { return wants_.waits; }
  void launch_started(const Launch& l) override;
  void launch_finished() override { to_.launch_finished(); }
  void cta_started(const Cta& c) override;
  void cta_finished(const Cta& c) override;
  void instruction(const Warp& w, const DecodedOp& op, LaneMask lanes) override;
  void memory(const Warp& w, const DecodedOp& op, LaneMask lanes, Space s, uint32_t bytes, bool store) override;
  void mbarrier(const Cta& c, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) override;
  void blocked(const Warp& w, const DecodedOp& op) override;
  void stalled(const Warp& w, Stall s, uint64_t from, uint64_t to) override;

 private:
  const CodePoint& at(const DecodedOp& op) const { return code_[static_cast<size_t>(&op - program_->code.data())]; }

  Observer& to_;
  ObserverWants wants_;
  const Program* program_ = nullptr;
  std::vector<CodePoint> code_;
};

}  // namespace drywell::sim
