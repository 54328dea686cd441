// What the checker knows: of the launch, and of each cluster that runs.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "drywell/sim/check.h"
#include "sim/check/footprints.h"
#include "sim/check/global_shadow.h"
#include "sim/check/ordering_rules.h"
#include "sim/check/registers.h"
#include "sim/check/reporter.h"
#include "sim/engine/footprint.h"
#include "sim/events/hub.h"

namespace drywell::sim::check {

/// How an instruction orders memory, from its modifiers.
struct Ordering {
  bool strong = false;   // atomic, volatile, or with a memory semantics
  bool release = false, acquire = false;
  bool wide = true;      // reaches beyond the CTA
  bool far = true;       // reaches beyond the cluster
};

class ClusterMonitor;

/// What there is to do when an instruction was executed.
struct Reaction {
  void (ClusterMonitor::*handle)(const Warp&, const DecodedOp&, LaneMask) = nullptr;
  bool takes_loaded = false;  // reads a register that some tcgen05.ld writes
};

/// What the clusters of a launch share; does not change while they run.
struct LaunchState {
  explicit LaunchState(const CheckOptions& o) : options(o) {}
  void begin(const Launch& launch);
  bool full() const { return options.level == CheckLevel::full; }
  /// Whether clusters of the launch order each other, and their memory is followed.
  bool follows_far() const { return full() && options.global_memory && synchronised && !opaque; }
  bool follows_registers() const { return full() && options.uninitialised; }
  size_t pc_of(const DecodedOp& op) const { return static_cast<size_t>(&op - program->code.data()); }
  /// Ordering of the instruction at `op`; loads and stores without one are weak.
  Ordering ordering(const DecodedOp& op) const { return orderings[pc_of(op)]; }
  bool reacts(const DecodedOp& op) const {
    const Reaction& r = reactions[pc_of(op)];
    return r.handle != nullptr || r.takes_loaded || follows_registers();
  }

  CheckOptions options;
  const Program* program = nullptr;
  std::vector<Ordering> orderings;    // per pc
  std::vector<Reaction> reactions;    // per pc
  PredicateUse predicates;            // if registers are followed
  bool strong_memory = false;         // some load, store or atomic orders threads
  bool synchronised = false;          // CTAs may synchronise through global memory
  bool opaque = false;                // in ways not followed here
  mutable std::unordered_map<uint64_t, FarClock> far_flags;  // released into places of global memory; one host thread runs such launches
  bool hidden_writes = false;         // some instruction writes memory unseen by the hub
  bool waits_for_grids = false;       // has griddepcontrol.wait

  // Of the launches before this one.
  static constexpr StateId kRead = 1, kWritten = 2;
  GlobalShadow previous;              // what the last one touched: kRead, kWritten
  std::set<uint64_t> written_before;  // bases of allocations
  bool sees_all_launches = false;     // none on this device went unwatched
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
  Clock wide_home, done_wide_home[2];  // what threads of its own CTA released, at any scope
  std::vector<LedgerEntry> ledger, last_ledger;  // of the incomplete phase, of the one before
};

/// Operations of one unit for one thread that complete together or in order.
struct Queue {
  Component done = 0, read = 0;   // read: bulk stores, reads of their source
  uint32_t issued = 0;
  std::vector<uint32_t> groups;   // operations issued when each group was committed
  std::vector<AccessId> reads;    // sources of bulk stores, for the end of the CTA
  uint32_t committed = 0;         // tcgen05: operations a commit tracks
  AccessId last = 0;              // the latest operation
};

/// Registers that a tcgen05.ld writes, until they are waited for.
class LoadedRegisters {
 public:
  bool empty() const { return slots_.empty(); }
  /// `slot`: offset in the register file.
  void add(uint32_t slot, uint32_t load) {
    const uint32_t r = slot / kSlot;
    if (r >= load_.size()) load_.resize(r + 1);
    if (load_[r] == 0) slots_.push_back(r);
    load_[r] = load;
  }
  /// The number of the load whose result is there, from 1; 0: none.
  uint32_t load_of(uint32_t slot) const { return slot / kSlot < load_.size() ? load_[slot / kSlot] : 0; }
  void clear() {
    for (const uint32_t r : slots_) load_[r] = 0;
    slots_.clear();
  }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes
  std::vector<uint32_t> load_, slots_;
};

struct WarpState {
  WarpClock clock;
  std::map<uint32_t, Queue> bulk, tensor;  // by lane
  Queue copies, loads, stores, products;   // cp.async, tcgen05.ld, tcgen05.st, wgmma
  std::shared_ptr<Message> named, cluster; // instances of barriers it arrived at
  AccessId last_access = 0;
  LoadedRegisters loading;
  RegisterShadow registers;
  uint16_t peers = 0;             // ranks known to have started
  bool resized = false;           // setmaxnreg since the last barrier
  std::vector<uint32_t> resizes;  // its instructions
  uint32_t far = 0;               // number of the latest Far its accesses had
};

/// Something threads release into and acquire from, across CTAs.
struct Flag {
  Message message;
  std::map<uint16_t, Clock> wide_in;  // by CTA: what its own threads released, at any scope
};

/// The latest block-scaled product, until scale factors are written.
struct ScaleUse {
  bool valid = false;
  uint32_t d = 0;
  uint64_t a = 0, b = 0;
  uint32_t sfa = 0, sfb = 0, ids = 0;
};

struct CtaState {
  /// `bytes`: those of shared memory are followed.
  CtaState(const Cta& c, bool bytes) : cta(c), shared(bytes ? c.smem.size() : 0), tensor(kTmemColumns), warps(c.warps.size()) {}
  const Cta& cta;
  SharedShadow shared;
  TensorShadow tensor;
  std::vector<WarpState> warps;
  std::unordered_map<uint32_t, BarrierState> barriers;  // by offset
  std::shared_ptr<Message> named[16];
  ScaleUse scales;
  std::map<Component, AccessId> visitors;  // latest ordinary access of each peer's warp
  std::vector<AccessId> landings;          // asynchronous operations on its memory, copies of its own and all of peers
};

/// An operation between its issue and its signal.
struct Flight {
  std::vector<AccessId> landings;  // writes of each CTA, in the order their mbarriers are signalled
  AccessId source = 0;             // what it reads, if an mbarrier tells that too
  size_t signalled = 0;
  bool commit = false;
  Message message;                 // what its arrival releases
  Access who;

  void reset() {
    landings.clear();
    message.clear();
    source = 0;
    signalled = 0;
    commit = false;
  }
};

/// The operations in flight, by number. Few at a time; what one took up the next one uses again.
class Flights {
 public:
  Flight& open(uint64_t id) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(all_.size()));
      all_.emplace_back();
    }
    open_.emplace_back(id, free_.back());
    free_.pop_back();
    Flight& f = all_[open_.back().second];
    f.reset();
    return f;
  }
  Flight* find(uint64_t id) {
    for (const auto& [number, at] : open_) if (number == id) return &all_[at];
    return nullptr;
  }
  void close(uint64_t id) {
    for (auto& o : open_) {
      if (o.first != id) continue;
      free_.push_back(o.second);
      o = open_.back();
      return open_.pop_back();
    }
  }
  void clear() { *this = {}; }

 private:
  std::deque<Flight> all_;  // do not move
  std::vector<uint32_t> free_;
  std::vector<std::pair<uint64_t, uint32_t>> open_;
};

class ClusterMonitor {
 public:
  /// What executing such an instruction asks for, beyond its memory accesses and asynchronous operations; nullptr: nothing.
  static decltype(Reaction::handle) handler_of(isa::SyncRole op, bool full);

  /// `known`: what earlier clusters' operations touched.
  ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known);

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask);
  void skipped(const Warp& w, const DecodedOp& op);
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount);
  void async(const AsyncOp& op, AsyncMoment moment);
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b);
  void finish(const Cta& cta);
  std::string explain_hang() const;
  WaitGraph wait_graph() const;

  /// Once its CTAs are over.
  void seal();
  bool sealed() const { return ctas_.empty(); }
  std::unique_ptr<KnownFootprints> take_footprints() { return std::move(footprints_); }
  const Reporter& reporter() const { return reporter_; }
  const GlobalShadow& global() const { return global_; }
  const AccessTable& accesses() const { return accesses_; }
  const StateTable& states() const { return states_; }
  /// mbarrier waits by pc: whether an execution told its warp anything.
  const std::map<uint32_t, bool>& waits() const { return waits_; }
  /// Reads of global memory that still had the poison of a new allocation.
  struct Suspect {
    uint64_t begin, end;
    AccessId id;
  };
  const std::vector<Suspect>& suspects() const { return suspects_; }
  const Far& far(uint32_t number) const { return fars_[number]; }

 private:
  struct BarrierEvent {
    const Cta* cta;
    uint32_t offset;
    MbarrierEvent what;
    int64_t amount;
  };

  struct Issue;

  static constexpr Component kGridWait = 1;  // 1: the launches before this one are over
  static constexpr size_t kMostSuspects = 1000;

  uint32_t pc_of(const DecodedOp& op) const { return static_cast<uint32_t>(launch_.pc_of(op)); }
  WarpState& state_of(const Warp& w) { return ctas_[w.cta->rank].warps[w.index]; }
  Component new_component() { return next_component_++; }
  Queue& queue_of(std::map<uint32_t, Queue>& all, uint32_t lane, bool reads);
  Access access_of(const Warp& w, uint32_t pc, LaneMask lanes, Agent agent, bool write);

  // dispatch.cpp: what instructions do, as handler_of names it
  void unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what);
  void after_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_named_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_cluster_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_warp_barrier(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_load_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_store_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_product(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_bulk_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_copy_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  void after_product_group(const Warp& w, const DecodedOp& op, LaneMask mask);
  // cluster.cpp: marks memory and reports
  class Answers;
  struct Touch;
  void touch(const Span& s, AccessId id, const WarpClock& who, Rule unwritten);
  void touch(const Span& s, Touch& t);
  void touch(std::span<const SharedRun> runs, Touch& t);
  void touch_global(const Span& s, Touch& t);
  void touch_tensor(const Span& s, Touch& t);
  template <class Cells, class Judge, class Where>
  void touch_cells(Cells& cells, uint64_t begin, uint64_t end, AccessId id, const Judge& judge, const Where& where, Rule unwritten, Answers& known);
  // lifetime.cpp
  void visit_peer(uint32_t rank, AccessId id, const WarpClock& who);
  bool known_in(const CtaState& cta, const Access& a) const;
  // converge.cpp
  void one_lane(const Warp& w, const DecodedOp& op, LaneMask mask);
  void check_commit(const Warp& w, const DecodedOp& op, LaneMask mask);
  void set_registers(const Warp& w, const DecodedOp& op, LaneMask mask);
  void finish_convergence(const Cta& cta);
  // tensormap.cpp
  void edit_map(const Warp& w, const DecodedOp& op, LaneMask mask);
  void use_map(const Warp& w, const AsyncOp& op, uint64_t map);
  // dependent.cpp
  void grid_wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void check_grid_wait(const Span& s, AccessId id, const WarpClock& who);
  void suspect_unwritten(const Span& s, AccessId id);
  // sync.cpp
  void barrier_events(const Warp& w, const DecodedOp& op, LaneMask mask);
  template <class Released>
  void arrive(const BarrierEvent& e, const Released& m, const Clock& home, const Access& who);
  void init(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask);
  void inval(const BarrierEvent& e, const Warp& w, uint32_t pc, LaneMask mask);
  void wait(const Warp& w, const DecodedOp& op, LaneMask mask);
  void check_init(uint32_t address, const Access& who, const WarpClock& clock);
  BarrierState* find_barrier(uint32_t address);
  void fence(const Warp& w, const DecodedOp& op, LaneMask mask);
  void cluster_barrier(const Warp& w, const DecodedOp& op);
  void flags(const Warp& w, const DecodedOp& op, uint64_t key, bool store);
  // hang.cpp
  std::string ledger_of(uint32_t address) const;
  std::string releasers(uint32_t address) const;
  // scales.cpp
  void follow_scales(const Umma& u, const Access& who);
  // cross_cluster.cpp
  void far_flags(WarpState& w, Ordering o, uint64_t place, bool loads, bool stores);
  uint32_t far_of(WarpState& w);
  void note_register_use(const Warp& w, const DecodedOp& op, WarpState& state);
  // async.cpp
  void issue(const AsyncOp& op);
  void wait_groups(Queue& q, WarpState& w, uint64_t allowed, bool reads_only);
  void tensor_memory(const Warp& w, const DecodedOp& op, LaneMask mask);

  const Cluster& cluster_;
  const LaunchState& launch_;
  uint64_t serial_;
  AccessTable accesses_;
  StateTable states_;
  GlobalShadow global_;
  Reporter reporter_;
  size_t running_ctas_;
  Component next_component_ = kGridWait + 1;  // 0: none
  std::vector<CtaState> ctas_;
  std::vector<BarrierEvent> events_;       // of the instruction that runs
  std::unique_ptr<KnownFootprints> footprints_;
  Flights flights_;
  uint64_t running_ = 0;                   // operation that writes and signals now
  std::unordered_map<uint64_t, Flag> flags_;
  std::vector<Suspect> suspects_;
  std::map<uint32_t, bool> waits_;
  std::vector<Far> fars_{1};  // [0]: nothing
  const Gmem::Allocation* allocation_ = nullptr;  // of the last suspicion
  std::shared_ptr<Message> cluster_instance_;
  uint64_t cluster_generation_ = 0;
};

}  // namespace drywell::sim::check
