// The hub notifies listeners of state changes: checkers, traces, statistics and the debugger. A launch without
// observers has no hub; its only cost is a pointer test outside the hottest paths.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "drywell/sim/observer.h"
#include "sim/events/store_order.h"
#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim {

/// Interface of Drywell's own checkers, traces and recorders, which access the state itself. Users implement Observer
/// (drywell/sim/observer.h). Every method has an empty default; a listener overrides the methods it needs.
class Listener {
 public:
  virtual ~Listener() = default;
  /// True: different host threads may notify the listener of different clusters at once (of one cluster, one thread at a time).
  virtual bool concurrent() const { return false; }
  /// The listener receives loads and stores, which are frequent. Called when a launch starts, like wants_instruction.
  virtual bool wants_memory() const { return true; }
  /// The listener receives executions of `op`. It may receive more instructions, if another listener wants them.
  virtual bool wants_instruction(const Program&, const DecodedOp& /*op*/) const { return true; }
  /// An instruction was executed by the lanes of `mask` (effect next, jumped, exited or yield).
  virtual void instruction(const Warp&, const DecodedOp&, LaneMask) {}
  /// The listener receives `op` when its guard excludes all active lanes. Otherwise like wants_instruction.
  virtual bool wants_skipped(const Program&, const DecodedOp& /*op*/) const { return false; }
  virtual void skipped(const Warp&, const DecodedOp&) {}
  /// The lanes of `mask` are about to load or store `bytes` each; addresses are lane_address(w, op, lane), not yet checked.
  virtual void memory(const Warp&, const DecodedOp&, LaneMask, Space, uint32_t /*bytes*/, bool /*store*/) {}
  /// The listener receives mbarrier waits that returned true.
  virtual bool wants_waits() const { return true; }
  virtual void mbarrier(const Cta&, uint32_t /*offset*/, const Mbarrier&, MbarrierEvent, int64_t /*amount*/) {}
  /// A warp arrived at a named barrier; the barrier has the state after the arrival.
  virtual void named_barrier(const Warp&, uint32_t /*id*/, const NamedBarrier&) {}
  virtual void async(const Cluster&, const AsyncOp&, AsyncMoment) {}
  virtual void blocked(const Warp&, const DecodedOp&) {}
  /// Timed driver: the warp did not issue in cycles [from, to), for one reason.
  virtual void stalled(const Warp&, Stall, uint64_t /*from*/, uint64_t /*to*/) {}
  virtual void launch_started(const Launch&) {}
  virtual void launch_finished() {}
  virtual void cta_started(const Cta&) {}
  virtual void cta_finished(const Cta&) {}
  /// The cluster cannot continue: the listener's explanation, for the fault's message.
  virtual std::string explain_hang(const Cluster&) { return {}; }
  /// True if last_writer() can return a description.
  virtual bool knows_writers() const { return false; }
  /// Describes the last write of a byte, for the message of a fault: a global address, or one in shared memory of the cluster (shared_rank, shared_offset).
  virtual std::string last_writer(const Cluster&, uint64_t /*address*/, bool /*shared*/) { return {}; }
};

/// Calls every listener in the order of attachment.
class ObserverHub {
 public:
  void attach(Listener* l) {
    listeners_.push_back(l);
    memory_listeners_.push_back(l);
  }
  bool concurrent() const {
    return std::all_of(listeners_.begin(), listeners_.end(), [](const Listener* l) { return l->concurrent(); });
  }
  bool empty() const { return listeners_.empty(); }
  static constexpr uint8_t kExecuted = 1, kSkipped = 2;
  /// By pc, the events that any listener wants: kExecuted, kSkipped. nullptr: every execution of every instruction.
  const uint8_t* wanted() const { return wanted_.empty() ? nullptr : wanted_.data(); }
  bool wants_waits() const {
    return std::any_of(listeners_.begin(), listeners_.end(), [](const Listener* l) { return l->wants_waits(); });
  }
  void instruction(const Warp& w, const DecodedOp& op, LaneMask m) {
    for (Listener* l : listeners_) l->instruction(w, op, m);
  }
  void skipped(const Warp& w, const DecodedOp& op) {
    for (Listener* l : listeners_) l->skipped(w, op);
  }
  void memory(const Warp& w, const DecodedOp& op, LaneMask m, Space s, uint32_t bytes, bool store) {
    for (Listener* l : memory_listeners_) l->memory(w, op, m, s, bytes, store);
  }
  /// Orders the stores of global memory that listeners receive; nullptr: no listener receives them.
  StoreOrder* store_order() const { return store_order_.get(); }
  void mbarrier(const Cta& c, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount) {
    for (Listener* l : listeners_) l->mbarrier(c, offset, b, e, amount);
  }
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) {
    for (Listener* l : listeners_) l->named_barrier(w, id, b);
  }
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
    for (Listener* l : listeners_) l->async(c, op, m);
  }
  void blocked(const Warp& w, const DecodedOp& op) {
    for (Listener* l : listeners_) l->blocked(w, op);
  }
  void stalled(const Warp& w, Stall s, uint64_t from, uint64_t to) {
    for (Listener* l : listeners_) l->stalled(w, s, from, to);
  }
  void launch_started(const Launch& launch) {
    for (Listener* l : listeners_) l->launch_started(launch);
    memory_listeners_.clear();
    std::copy_if(listeners_.begin(), listeners_.end(), std::back_inserter(memory_listeners_), [](const Listener* l) { return l->wants_memory(); });
    store_order_ = memory_listeners_.empty() ? nullptr : std::make_unique<StoreOrder>();
    const Program& p = *launch.program;
    wanted_.clear();
    for (const DecodedOp& op : p.code) {
      uint8_t& wanted = wanted_.emplace_back(uint8_t{0});
      for (const Listener* l : listeners_) wanted |= static_cast<uint8_t>((l->wants_instruction(p, op) ? kExecuted : 0) | (l->wants_skipped(p, op) ? kSkipped : 0));
    }
  }
  void launch_finished() {
    for (Listener* l : listeners_) l->launch_finished();
  }
  void cta_started(const Cta& c) {
    for (Listener* l : listeners_) l->cta_started(c);
  }
  void cta_finished(const Cta& c) {
    for (Listener* l : listeners_) l->cta_finished(c);
  }
  std::string explain_hang(const Cluster& c) {
    std::string all;
    for (Listener* l : listeners_) all += l->explain_hang(c);
    return all;
  }
  bool knows_writers() const {
    return std::any_of(listeners_.begin(), listeners_.end(), [](const Listener* l) { return l->knows_writers(); });
  }
  std::string last_writer(const Cluster& c, uint64_t address, bool shared) {
    std::string all;
    for (Listener* l : listeners_) all += l->last_writer(c, address, shared);
    return all;
  }

 private:
  std::vector<Listener*> listeners_, memory_listeners_;
  std::unique_ptr<StoreOrder> store_order_;
  std::vector<uint8_t> wanted_;  // by pc; empty: every execution
};

}  // namespace drywell::sim
