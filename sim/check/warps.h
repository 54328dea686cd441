// The warps of a cluster: each one's clock and its operations in flight.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/check/absent_values.h"
#include "sim/check/cross_cluster_flags.h"
#include "sim/check/loaded_registers.h"
#include "sim/check/local_writes.h"
#include "sim/check/operation_queue.h"
#include "sim/check/product_registers.h"

namespace drywell::sim::check {

struct WarpState {
  WarpClock clock;
  LaneQueues bulk{true}, tensor{false};
  OperationQueue copies, loads, stores, products;  // cp.async, tcgen05.ld, tcgen05.st, wgmma
  std::shared_ptr<const Message> named, cluster;   // instances of the barriers at which it arrived
  AccessId last_access = 0;
  StrongReads strong_reads;
  std::vector<bool> stored;  // by pc: it has executed that store or atomic; empty: none
  LoadedRegisters loading;
  ProductRegisters fragments;
  RegisterShadow registers;
  AbsentValues absent;
  LocalWrites local;
  std::vector<MemoryHole> holes;  // of the load that is executed
  PassedNumbers passed_numbers;
  std::map<uint32_t, std::array<uint64_t, kWarpSize>> hole_places;  // by pc of a load of one register: where its lanes last found nothing in local memory
  struct Resize {
    uint32_t pc, count;  // a setmaxnreg, and its number of registers
  };
  struct Guess {
    Component phases;  // of an mbarrier
    uint32_t phase;    // complete at that value
    AccessId wait;     // the wait that answered true, and whose answer is not tested
  };
  std::vector<Guess> guesses;
  struct Arrived {
    uint32_t phase = 0;
    LaneMask lanes = 0;
  };
  std::map<uint32_t, Arrived> arrived;  // by address of an mbarrier: the lanes that have arrived in its latest phase
  std::map<uint32_t, uint32_t> passed;  // by pc of an mbarrier wait: how often it has answered true
  struct Repeated {
    uint32_t phase = 0;  // the last one that the wait was true for
    LaneMask lanes = 0;
    uint32_t times = 0;  // true again, for lanes that it had been true for in the same phase
  };
  std::map<std::pair<uint32_t, uint32_t>, Repeated> repeated;  // by pc of an mbarrier wait, and address
  struct Blocked {
    uint32_t pc = 0, address = 0, parity = 0, passed = 0;
    uint64_t since = 0;  // Cluster::now
    bool same(const Blocked& o) const { return pc == o.pc && address == o.address && parity == o.parity && passed == o.passed; }
  } blocked;
  bool resized = false;         // setmaxnreg since the last barrier
  std::vector<Resize> resizes;  // all of them
  uint32_t cross_cluster = 0;   // number of the latest CrossClusterKnowledge its accesses had
};

class Warps {
 public:
  Warps(const Cluster& c, const LaunchState& launch, Components& components);

  WarpState& of(const Warp& w) { return ctas_[w.cta->rank][w.index]; }
  std::span<WarpState> of_cta(uint32_t rank) { return ctas_[rank]; }
  std::span<const WarpState> of_cta(uint32_t rank) const { return ctas_[rank]; }
  size_t ctas() const { return ctas_.size(); }

  /// Whether a warp with that clock knows that the CTA runs.
  bool knows_running(const Clock& seen, uint32_t rank) const { return seen[running_[rank]] != 0; }
  /// The clock `seen` has observed an event of every CTA that `of` has: they run, whatever the memory order.
  void observe_running(Clock& seen, const Clock& of) const {
    for (const Component c : running_)
      if (of[c] != 0) seen.raise(c, 1);
  }
  /// All CTAs of the cluster run.
  void all_run(Clock& seen) const {
    for (const Component c : running_) seen.raise(c, 1);
  }

  /// An access that the warp makes now.
  Access access(const Warp& w, uint32_t pc, LaneMask lanes, Agent agent, bool write);
  OwnClocks& own_clocks() { return own_; }
  const CrossClusterKnowledge& cross_cluster(uint32_t number) const { return cross_cluster_[number]; }

  /// Drops the state of the CTAs, which have ended.
  void clear() { ctas_.clear(); }
  bool over() const { return ctas_.empty(); }

 private:
  const Cluster& cluster_;
  const LaunchState& launch_;
  OwnClocks own_;
  CrossClusterTable cross_cluster_;
  std::vector<std::vector<WarpState>> ctas_;
  std::vector<Component> running_;  // by CTA; at 1: it has started
};

}  // namespace drywell::sim::check
