// The SMs one cluster runs on, simulated together: everything that interacts within a few cycles (warps,
// named barriers, mbarriers, TMEM, TMA, tensor cores, remote SMEM). Groups meet only in the L2
// (memory_system.h).
//
// A group is a discrete-event simulation. Each sub-partition issues a ready warp of the CTA that came first (issue_slot.h); a
// warp's next issue cycle is known when its last instruction issued, except while it waits for an event.
// Everything that changes shared state happens in the order of cycles; an instruction that touches nothing
// but its warp's registers may run ahead of the other sub-partitions by less than it takes any of them to
// influence this one (kLookahead).
//
// Here is the loop; the parts compute the times:
//   residents.h             the resident clusters: places of CTAs and warps, ends
//   scoreboard.h            when a warp's registers are ready
//   issue_slot.h            which warp of a sub-partition issues
//   pipes.h                 when a unit accepts an instruction
//   instruction_timing.h    the delays after an executed instruction (memory_instructions.h: loads, stores, atomics)
//   wake_list.h             the blocked warps and their conditions
//   async_units.h           asynchronous operations (tensor_units.h, tma_engine.h)
//   memory_port.h           requests to the L2 and their answers
//   stall_account.h         the warps' cycles by stall reason
#pragma once

#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/events/mbarrier_ops.h"
#include "sim/timing/async_units.h"
#include "sim/timing/instruction_timing.h"
#include "sim/timing/residents.h"

namespace drywell::sim {

struct FragmentLines;

class Group {
 public:
  Group(const TimingContext& context, uint32_t first_sm, uint32_t sms);

  /// Makes cluster `index` resident; its warps may issue from cycle `start` on.
  void start_cluster(uint64_t index, Time start);
  /// Processes everything before cycle `until`.
  void run(Time until);
  /// One event or one instruction before cycle `until`; false if there is none.
  bool advance(Time until);
  /// Cycle of the next event or instruction; kNever if there is none without an answer from memory.
  Time next_time() const;
  /// Makes events of the answers that arrived. For the debugger; run() and start_cluster() do it themselves.
  void take_answers();

  // Between two windows, for the driver.
  /// Requests to the memory, and its answers.
  MemoryPort& memory() { return memory_; }
  const MemoryPort& memory() const { return memory_; }
  /// Clusters that have ended since the driver took them last.
  std::vector<Residents::Finished>& finished() { return residents_.finished; }
  void hold_stores(Time until) { pipes_.hold_stores(until); }

  bool idle() const { return residents_.none(); }
  /// No warp can issue, and the only events left are time-outs of waits.
  bool stuck() const;
  uint64_t progress() const { return residents_.progress(); }
  /// Instructions so far that are in no loop that only waits (sim/exec/closed_waits.h).
  uint64_t moved() const { return moved_; }
  const std::optional<Fault>& fault() const { return fault_; }
  uint64_t fault_cluster() const { return fault_cluster_; }
  /// Any cluster that has not ended, for the deadlock report.
  const Cluster* a_live_cluster() const { return residents_.first(); }
  const Account& account() const { return account_.sums(); }
  const std::vector<SmUnits>& sms() const { return sms_; }
  Time last_activity() const { return last_activity_; }

  // For the debugger, between two steps.
  /// Cycle of the last step.
  Time now() const { return now_; }
  /// The warp whose instruction is the next step; nullptr: the next step is an event.
  const Warp* next_warp() const;
  void add_clusters(std::vector<Cluster*>& all) const { residents_.add_clusters(all); }
  bool holds(uint64_t cluster) const { return residents_.holds(cluster); }
  /// The reason why a live warp does not issue.
  struct Waiting {
    Stall reason{};
    Time cycle = 0;      // the warp may issue at this cycle, or waits since this cycle
    bool known = false;  // the issue cycle is known: `cycle` is that one
  };
  std::optional<Waiting> waiting(const Warp& warp) const;

 private:
  // No warp can influence another sub-partition's issue sooner than this: a named barrier releases after its
  // unit's interval and the barrier's own latency, every other signal takes longer.
  static constexpr Time kLookahead = 10;
  using WarpState = WarpIssueState::State;

  void begin_cluster(uint32_t announced, Time t);
  void try_end_cluster(uint32_t place, Time t);
  void fail(const Fault& f, const Cluster& c);

  // The loop.
  void handle(const Event& e);
  void run_ahead(IssueSlot& slot, Time second, Time until);
  void issue_next(IssueSlot& slot);
  void execute(uint32_t warp, Time t, bool resumed);
  void after(uint32_t resident, const OpInfo& x, uint64_t first_new, Time t);
  bool run_folded(WarpIssueState& w, const OpInfo& x);
  void schedule(uint32_t warp);
  void gather_lines(const FragmentLines& lines);
  void gather_addresses(const Warp& w, const OpInfo& x, LaneMask mask);
  void load_data(uint32_t token, Time t);
  void loaded(const WaitingLoad& p, Time t);
  void moment(uint32_t resident, uint64_t op, Time t, bool to_end);
  void block(uint32_t warp, Time t);
  void wake(const std::vector<WakeList::Wake>& woken);
  void wake_allocators(Time at);
  void count_move(uint32_t pc) { moved_ += program_.closed_wait_at.empty() || program_.closed_wait_at[pc] == 0 ? 1 : 0; }
  void time_out(uint32_t warp, Time t);
  SmUnits& sm_of(const WarpIssueState& w) { return sms_[w.sm]; }
  const WarpIssueState& next_of(const IssueSlot& slot) const { return residents_.warp(slot.warp()); }

  const TimingContext& context_;
  const ArchConfig& arch_;
  const Program& program_;
  const TimedProgram& timed_;
  std::vector<SmUnits> sms_;
  std::vector<IssueSlot*> slots_;  // of all sub-partitions
  EventQueue events_;
  MemoryPort memory_;
  Pipes pipes_;
  InstructionTiming timing_;
  AsyncUnits async_;
  StallAccount account_;
  Residents residents_;
  LaneAddresses addresses_;     // of the instruction being executed, from before it ran
  double barrier_arrival_ = 0;  // the latest at a named barrier
  std::optional<Fault> fault_;
  uint64_t fault_cluster_ = ~uint64_t{0};
  Time last_activity_ = 0;
  Time now_ = 0;
  uint64_t moved_ = 0;
  bool observed_ = false;
};

}  // namespace drywell::sim
