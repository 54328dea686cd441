// The state that the clusters of a launch share; it does not change while they run.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "drywell/sim/check.h"
#include "sim/check/followed_registers.h"
#include "sim/check/global_shadow.h"
#include "sim/check/load_uses.h"
#include "sim/check/loose_flags.h"
#include "sim/check/registers.h"

namespace drywell::sim::check {

/// How an instruction orders memory, from its modifiers.
struct Ordering {
  bool strong = false;  // atomic, volatile, or with a memory semantics
  bool release = false, acquire = false;
  bool wide = true;           // reaches beyond the CTA
  bool cross_cluster = true;  // reaches beyond the cluster
  bool incoherent = false;    // ld.global.nc: memory that no thread of the kernel writes
};

class ClusterMonitor;

/// The checker's work after an instruction was executed.
struct Reaction {
  using Handler = void (*)(ClusterMonitor&, const Warp&, const DecodedOp&, LaneMask);
  Handler handle = nullptr;
  bool takes_loaded = false;     // reads a register that some tcgen05.ld writes
  bool takes_fragments = false;  // no product, and accesses a register that some wgmma takes
  bool shuffles = false;         // reads registers of other lanes
};

struct LaunchState {
  explicit LaunchState(const CheckOptions& o) : options(o) {}
  void begin(const Launch& launch);
  bool full() const { return options.level == CheckLevel::full; }
  /// Whether clusters of the launch order each other, and the checker follows the order through their memory.
  bool follows_cross_cluster() const { return full() && options.global_memory && synchronised && !opaque; }
  bool follows_registers() const { return full() && options.uninitialised; }
  /// Values that come from nowhere are followed to their uses.
  bool follows_values() const { return follows_registers() && values_absent; }
  size_t pc_of(const DecodedOp& op) const { return static_cast<size_t>(&op - program->code.data()); }
  /// Ordering of the instruction at `op`; loads and stores without one are weak.
  Ordering ordering(const DecodedOp& op) const { return orderings[pc_of(op)]; }
  bool reacts(const DecodedOp& op) const {
    const Reaction& r = reactions[pc_of(op)];
    return r.handle != nullptr || r.takes_loaded || r.takes_fragments || (follows_registers() && (op.aligned || values_absent || followed.touches(pc_of(op))));
  }

  CheckOptions options;
  const Program* program = nullptr;
  std::vector<Ordering> orderings;  // one per pc
  std::vector<Reaction> reactions;  // one per pc
  std::vector<uint8_t> guessing;    // one per pc: an atomic of the same thread checks what the load brings; empty: no such load
  std::vector<uint8_t> untested;    // one per pc: a wait whose answer the program does not test
  struct SharedArray {
    uint32_t begin, end;  // in the shared memory of its CTA
    std::string name;
  };
  std::vector<SharedArray> arrays;  // the shared variables of known size
  /// The one that has the byte at `offset`; nullptr: none.
  const SharedArray* array_at(uint64_t offset) const {
    const auto at = std::find_if(arrays.begin(), arrays.end(), [&](const SharedArray& a) { return offset >= a.begin && offset < a.end; });
    return at == arrays.end() ? nullptr : &*at;
  }
  PredicateUse predicates;  // if registers are followed
  FollowedRegisters followed;
  bool values_absent = false;  // has shuffles, local or shared memory, or registers whose values may come from nowhere (absent_values.h)
  std::unique_ptr<LoadUses> load_uses;
  bool ends_mbarriers = false;                                                 // has mbarrier.inval
  bool strong_memory = false;                                                  // some load, store or atomic orders threads
  bool peer_memory = false;                                                    // some load, store or atomic accesses a peer's shared memory
  bool synchronised = false;                                                   // CTAs may synchronise through global memory
  bool opaque = false;                                                         // CTAs may synchronise in ways that the checker does not follow
  mutable std::unordered_map<uint64_t, CrossClusterFlag> cross_cluster_flags;  // released into places of global memory; one host thread runs such launches
  mutable LooseFlags loose_flags;                                              // of the same launches
  bool waits_for_grids = false;                                                // has griddepcontrol.wait
  bool starts_dependents = false;                                              // has griddepcontrol.launch_dependents
  bool overlaps = false;                                                       // the launch before may still run, whatever this one has

  // State of the launches before this one.
  static constexpr StateId kRead = 1, kWritten = 2;
  GlobalShadow previous;  // bytes that the previous launch accessed: kRead, kWritten
};

}  // namespace drywell::sim::check
