// The SMs one cluster runs on, simulated together: everything that interacts within a few cycles (warps,
// named barriers, mbarriers, TMEM, TMA, tensor cores, remote SMEM). Groups meet only in the L2
// (memory_system.h).
//
// A group is a discrete-event simulation. Each sub-partition issues the warp that has been ready longest; a
// warp's next issue cycle is known when its last instruction issued, except while it waits for an event.
// Everything that changes shared state happens in the order of cycles; an instruction that touches nothing
// but its warp's registers may run ahead of the other sub-partitions by less than it takes any of them to
// influence this one (kLookahead).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/arch/memory_figures.h"
#include "sim/state/cta.h"
#include "sim/events/mbarrier_ops.h"
#include "drywell/sim/access.h"
#include "sim/timing/memory_system.h"
#include "sim/timing/sm.h"
#include "sim/timing/timed_program.h"
#include "sim/timing/warp_issue_state.h"

namespace drywell::sim {

/// What the groups of a launch share and do not change.
struct TimingContext {
  const Launch* launch = nullptr;
  const ArchConfig* arch = nullptr;
  const TimedProgram* program = nullptr;
  std::vector<std::string> roles;      // names
  std::vector<uint16_t> role_of_warp;  // by warp index in the CTA
  bool values = true;
  uint64_t l1_bytes = 0;
  const MemoryFigures* figures = nullptr;
};

/// Cycles and instructions of a group, summed over its SMs; summed over groups for the report.
struct Account {
  struct Line {
    uint64_t instructions = 0, cycles = 0;
  };
  std::vector<std::array<uint64_t, kStallCount>> role_cycles;
  std::vector<uint64_t> role_warps, role_instructions;
  std::vector<Line> lines;
  uint64_t instructions = 0;
};

class Group {
 public:
  Group(const TimingContext& context, uint32_t first_sm, uint32_t sms);

  /// Makes cluster `index` resident; its warps may issue from cycle `start` on.
  void start_cluster(uint64_t index, Time start);
  /// Processes everything before cycle `until`.
  void run(Time until);
  /// One event or one instruction before cycle `until`; false if there is none.
  bool advance(Time until);
  /// Next cycle at which something happens; kNever if nothing will without an answer from memory.
  Time next_time() const;
  /// An answer from memory to one of `requests`; run() takes it in.
  void answer(const MemoryRequest& r) {
    answers_.push_back({r.done, r.token});
    first_answer_ = std::min(first_answer_, r.done);
  }
  /// Makes events of the answers that came. For the debugger; run() and start_cluster() do it themselves.
  void take_answers();

  // Between two windows, for the driver.
  std::vector<MemoryRequest> requests;
  std::vector<ByteRange> runs;
  struct Finished {
    uint64_t cluster = 0;
    Time at = 0;
  };
  std::vector<Finished> finished;
  Time store_gate = 0;  // stores to global memory wait until then: the L2 has no clean line left for them

  bool idle() const { return live_clusters_ == 0; }
  /// No warp can issue, and nothing is under way but time-outs of waits.
  bool stuck() const;
  uint64_t progress() const;
  const std::optional<Fault>& fault() const { return fault_; }
  uint64_t fault_cluster() const { return fault_cluster_; }
  /// Any cluster that has not ended, for the deadlock report.
  const Cluster* a_live_cluster() const;
  const Account& account() const { return account_; }
  const std::vector<SmUnits>& sms() const { return sms_; }
  Time last_activity() const { return last_activity_; }

  // For the debugger, between two steps.
  /// Cycle of the last step.
  Time now() const { return now_; }
  /// The warp whose instruction the next step is; nullptr: it is an event.
  const Warp* next_warp() const;
  void add_clusters(std::vector<Cluster*>& all) const;
  bool holds(uint64_t cluster) const;
  /// What a warp that lives waits for.
  struct Waiting {
    Stall reason{};
    Time cycle = 0;      // it may issue then, or waits since then
    bool known = false;  // when it may issue
  };
  std::optional<Waiting> waiting(const Warp& warp) const;

 private:
  // No warp can influence another sub-partition's issue sooner than this: a named barrier releases after its
  // unit's interval and the barrier's own latency, every other signal takes longer.
  static constexpr Time kLookahead = 10;

  enum class EventKind : uint8_t {
    start,
    read,
    write,
    finish,
    tma_start,
    tma_data,
    load_data,
    wake,
    time_out
  };
  struct Event {
    Time time;
    uint64_t order;
    EventKind kind;
    uint32_t a;  // resident or warp
    uint64_t b;  // operation, serial or token
    bool operator>(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
  };

  using WarpState = WarpIssueState::State;

  struct Resident {
    std::unique_ptr<Cluster> cluster;
    std::vector<uint32_t> warps;
    std::vector<uint32_t> blocked;
    uint32_t live_warps = 0;
    std::vector<uint64_t> seen_epoch;  // per CTA
    uint64_t cluster_generation = 0;
    Time cluster_release = 0;
    struct Track {
      uint64_t id;
      Time done;
    };
    std::vector<Track> tracks;  // operations whose end is known
    struct Flip {
      uint32_t mbar = 0;
      Time visible = 0;
    };
    struct Warpgroup {
      std::array<std::deque<uint64_t>, 4> issued;  // wgmma operations of each warp that have not entered the pipe
    };
    std::map<uint32_t, Warpgroup> warpgroups;  // by CTA rank * 64 + warpgroup
    std::array<Flip, 4> flips{};  // phases completed by threads a moment ago
    uint32_t next_flip = 0;
  };

  struct PendingLoad {
    uint32_t warp = 0;  // ~0: an asynchronous operation
    uint64_t serial = 0, load = 0;
    uint32_t resident = 0;
    uint64_t op = 0;
    uint32_t bytes = 0;
    uint16_t sm = 0;
    bool fill_l1 = false;
    std::vector<ByteRange> runs;
  };

  /// Who issues next, and when.
  struct Turn {
    Partition* partition = nullptr;
    Time at = kNever, second = kNever;  // `second`: the earliest of the other sub-partitions
  };

  // group.cpp
  Turn next_turn() const;
  void take_event();
  void push(Time t, EventKind k, uint32_t a, uint64_t b = 0);
  void handle(const Event& e);
  void begin_cluster(uint32_t resident, Time t);
  void end_warp(WarpIssueState& w, Time t);
  void try_end_cluster(uint32_t resident, Time t);
  void select(Partition& p);
  void set_candidate(WarpIssueState& w, Time at);
  void fail(const Fault& f, const Cluster& c);
  SmUnits& sm_of(const WarpIssueState& w) { return sms_[w.sm]; }

  // group_issue.cpp
  void issue_next(Partition& p);
  void execute(uint32_t warp, Time t, bool resumed);
  void complete(uint32_t warp, const OpInfo& x, uint32_t pc, LaneMask mask, Time t, bool resumed);
  void complete_memory(WarpIssueState& w, uint32_t warp, const OpInfo& x, Time t);
  void complete_hold(WarpIssueState& w, const OpInfo& x, uint32_t pc, LaneMask mask, Time t, bool resumed);
  void complete_wait(WarpIssueState& w, const OpInfo& x, LaneMask mask, Time t, bool resumed);
  void complete_barrier(WarpIssueState& w, const OpInfo& x, Time t, bool resumed);
  bool run_folded(WarpIssueState& w, const OpInfo& x);
  void gather_addresses(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t bytes);
  void schedule(uint32_t warp);
  Time admits(const WarpIssueState& w, const OpInfo& x, Time t);
  static Server& pipe_for(Partition& p, const OpInfo& x);
  Time fence_before(const OpInfo& x) const;
  /// The cycles not accounted for yet, up to `until`, had that reason.
  void charge(WarpIssueState& w, Stall reason, Time until) {
    if (until <= w.mark) return;
    w.stalls[static_cast<size_t>(reason)] += until - w.mark;
    if (observed_) announce_stall(w, reason, until);
    w.mark = until;
  }
  void announce_stall(const WarpIssueState& w, Stall reason, Time until) const;
  void charge_issue(WarpIssueState& w, const OpInfo& x, Time t);
  Time hoisted(const WarpIssueState& w, const OpInfo& x, Time ready) const;
  void set_writes(WarpIssueState& w, const OpInfo& x, Time ready, Stall why);
  double lsu_begin(WarpIssueState& w, Time t, double wavefronts, bool smem);
  double lsu_begin(WarpIssueState& w, Time t, double wavefronts, bool smem, double lone_interval);
  void load_data(uint32_t pending, Time t);

  // group_wake.cpp
  struct WakeTimes {
    Time mbarrier, barrier, other;
  };
  void block(uint32_t warp, Time t);
  void wake_changed(Resident& r, const WakeTimes& at);
  void wake_allocators(Time at);
  void wake_one(uint32_t warp, Time at);
  void time_out(uint32_t warp, Time t);
  void note_flip(Resident& r, uint32_t mbar, Time visible);
  WakeTimes async_wake(Time t) const;
  WakeTimes thread_wake(Time t) const;

  // group_async.cpp
  void dispatch(uint32_t resident, size_t pending_index, Time t);
  Time dispatch_umma(Resident& r, const AsyncOp& op, const Umma& u, Time t);
  Time dispatch_tmem(Resident& r, const AsyncOp& op, const TmemLdSt& l, Time t);
  Time dispatch_copy(Resident& r, const AsyncOp& op, const TmemCopy& c, Time t);
  void dispatch_wgmma(Resident& r, const AsyncOp& op, const Wgmma& m, Time t);
  void queue_tma(uint32_t resident, const AsyncOp& op, Time t);
  void start_tma(uint32_t resident, uint64_t id, Time t);
  void tma_data(uint32_t pending, Time t);
  void request_async(uint32_t resident, const AsyncOp& op, MemoryKind kind, uint32_t sm,
                     std::vector<ByteRange> ranges, Time t);
  void moments(uint32_t resident, uint64_t id, Time t, bool to_end);
  Time done_of(const Resident& r, uint64_t id) const;
  uint32_t add_pending(PendingLoad p);

  const TimingContext& context_;
  const ArchConfig& arch_;
  const MemoryFigures& figures_;
  const Program& program_;
  const TimedProgram& timed_;
  std::vector<SmUnits> sms_;
  std::vector<Partition*> partitions_;
  std::vector<std::unique_ptr<WarpIssueState>> warps_;
  std::vector<uint32_t> free_warps_;
  std::vector<Resident> residents_;
  std::vector<uint32_t> free_residents_;
  std::vector<std::pair<uint64_t, Time>> starting_;  // cluster index and start, by event number
  std::vector<PendingLoad> pending_;
  std::vector<uint32_t> free_pending_;
  std::vector<Event> events_;  // heap, earliest first
  uint64_t next_event_ = 0;
  struct Answer {
    Time done;
    uint32_t token;
  };
  std::vector<Answer> answers_;  // not among the events yet
  Time first_answer_ = kNever;
  uint32_t time_outs_ = 0;  // events of that kind in the heap
  uint32_t live_clusters_ = 0;
  uint64_t ended_progress_ = 0;
  LaneAddresses addresses_;     // of the instruction being executed, from before it ran
  double barrier_arrival_ = 0;  // its arrival at the barrier unit
  Account account_;
  std::optional<Fault> fault_;
  uint64_t fault_cluster_ = ~uint64_t{0};
  Time last_activity_ = 0;
  Time now_ = 0;
  bool observed_ = false;
};

}  // namespace drywell::sim
