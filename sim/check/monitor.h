// What the checker knows: of the launch, and of each cluster that runs.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/check/judge.h"
#include "sim/check/reporter.h"
#include "sim/check/shadow.h"
#include "sim/engine/footprint.h"
#include "sim/observe/hub.h"

namespace drywell::sim::check {

/// How an instruction orders memory, from its modifiers.
struct Ordering {
  bool strong = false;   // atomic, volatile, or with a memory semantics
  bool release = false, acquire = false;
};

/// Shared by the clusters of a launch.
struct LaunchState {
  explicit LaunchState(const CheckOptions& o) : options(o), states(accesses), reporter(o.most) {}
  void begin(const Launch& launch);
  /// Ordering of the instruction at `op`; loads and stores without one are weak.
  Ordering ordering(const DecodedOp& op) const { return orderings[static_cast<size_t>(&op - program->code.data())]; }

  CheckOptions options;
  const Program* program = nullptr;
  std::vector<Ordering> orderings;    // per pc
  bool synchronised = false;          // CTAs may synchronise through global memory
  bool hidden_writes = false;         // some instruction writes memory unseen by the hub
  AccessTable accesses;
  StateTable states;
  GlobalShadow global;
  Reporter reporter;
};

/// An entry of an mbarrier's ledger.
struct LedgerEntry {
  MbarrierEvent what{};
  int64_t amount = 0;
  uint32_t pc = 0;
  uint16_t cta = 0, warp = 0;
  bool asynchronous = false;
};

/// An mbarrier as the checker follows it.
struct BarrierState {
  Component component = 0;      // phases completed
  uint32_t phase = 0;           // the incomplete one
  uint32_t base = 0;            // the first phase of this life of the object
  uint32_t observed = 0;        // phases somebody has seen complete, counted as `phase`
  bool live = false;
  AccessId init = 0;
  Message collecting;           // released by arrivals so far
  Message done[2];              // phases of even and odd number
  std::vector<LedgerEntry> ledger, last_ledger;  // of the incomplete phase, of the one before
};

/// Operations of one unit for one thread that complete together or in order.
struct Queue {
  Component done = 0, read = 0;   // read: bulk stores, reads of their source
  uint32_t issued = 0;
  std::vector<uint32_t> groups;   // operations issued when each group was committed
  std::vector<AccessId> reads;    // sources of bulk stores, for the end of the CTA
};

struct WarpState {
  WarpClock clock;
  std::map<uint32_t, Queue> bulk, tensor;  // by lane
  Queue copies, loads, stores, products;   // cp.async, tcgen05.ld, tcgen05.st, wgmma
  std::shared_ptr<Message> named, cluster; // instances of barriers it arrived at
  AccessId last_access = 0;
  /// Registers (offsets in the register file) of tcgen05.ld that was not waited for, and which load.
  std::vector<std::pair<uint32_t, uint32_t>> loading;
};

struct CtaState {
  explicit CtaState(const Cta& c) : cta(c), shared(c.smem.size()), tensor(size_t{kTmemLanes} * kTmemColumns), warps(c.warps.size()) {}
  const Cta& cta;
  SharedShadow shared;
  TensorShadow tensor;
  std::vector<WarpState> warps;
  std::unordered_map<uint32_t, BarrierState> barriers;  // by offset
  std::shared_ptr<Message> named[16];
};

class ClusterMonitor {
 public:
  ClusterMonitor(const Cluster& c, LaunchState& launch, uint64_t serial);

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask);
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount);
  void async(const AsyncOp& op, AsyncMoment moment);
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b);
  void finish(const Cta& cta);
  std::string explain_hang() const;

 private:
  struct BarrierEvent {
    const Cta* cta;
    uint32_t offset;
    MbarrierEvent what;
    int64_t amount;
  };

  struct Issue;
  /// An operation between its issue and its signal.
  struct Flight {
    std::vector<AccessId> landings;  // writes of each CTA, in the order their mbarriers are signalled
    AccessId source = 0;             // what it reads, if an mbarrier tells that too
    size_t signalled = 0;
    Message message;                 // what its arrival releases
    Access who;
  };

  WarpState& state_of(const Warp& w) { return ctas_[w.cta->rank].warps[w.index]; }
  Component new_component() { return next_component_++; }
  Queue& queue_of(std::map<uint32_t, Queue>& all, uint32_t lane, bool reads);
  Access access_of(const Warp& w, uint32_t pc, LaneMask lanes, Agent agent, bool write);

  // cluster.cpp: marks memory and reports
  void touch(const Span& s, AccessId id, const WarpClock& who, Rule unwritten);
  template <class Cells, class Judge, class Where>
  void touch_cells(Cells& cells, uint64_t begin, uint64_t end, AccessId id, const Judge& judge, const Where& where, Rule unwritten);
  // sync.cpp
  void barrier_events(const Warp& w, const DecodedOp& op, LaneMask mask);
  void arrive(const BarrierEvent& e, const Message& m, const Access& who);
  void init(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask);
  void inval(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask);
  void wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void check_init(uint32_t address, const Access& who, const WarpClock& clock);
  BarrierState* find_barrier(uint32_t address);
  void fence(const Warp& w, const DecodedOp& op);
  void cluster_barrier(const Warp& w, const DecodedOp& op);
  void flags(const Warp& w, const DecodedOp& op, uint64_t key, bool store);
  // hang.cpp
  std::string ledger_of(uint32_t address) const;
  std::string releasers(uint32_t address) const;
  void note_register_use(const Warp& w, const DecodedOp& op, WarpState& state);
  // async.cpp
  void issue(const AsyncOp& op);
  void wait_groups(Queue& q, WarpState& w, uint64_t allowed, bool reads_only);
  void tensor_memory(const Warp& w, const DecodedOp& op, LaneMask mask);

  const Cluster& cluster_;
  LaunchState& launch_;
  uint64_t serial_;
  Component next_component_ = 1;           // 0: none
  std::vector<CtaState> ctas_;
  std::vector<BarrierEvent> events_;       // of the instruction that runs
  std::unordered_map<uint64_t, Flight> flights_;
  uint64_t running_ = 0;                   // operation that writes and signals now
  std::unordered_map<uint64_t, Message> flags_;
  std::shared_ptr<Message> cluster_instance_;
  uint64_t cluster_generation_ = 0;
};

}  // namespace drywell::sim::check
