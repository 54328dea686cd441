// The memory that a cluster accesses: each cell's last writer and the readers since. An access is compared with those before it (ordering_rules.h).
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "sim/check/footprints.h"
#include "sim/check/global_shadow.h"
#include "sim/check/launch_state.h"
#include "sim/check/lifetimes.h"
#include "sim/check/mbarrier_ledger.h"
#include "sim/check/ordering_rules.h"
#include "sim/check/undefined_bytes.h"
#include "sim/check/unused_reads.h"

namespace drywell::sim::check {

/// Reads of global memory that still has the poison of a new allocation.
struct Suspect {
  uint64_t begin, end;
  AccessId id;
};

class MemoryShadow {
 public:
  MemoryShadow(const Cluster& c, const LaunchState& launch, const AccessTable& accesses, Reporter& reporter, Lifetimes& lifetimes, UnusedReads& unused, MbarrierLedger& mbarriers);

  /// An access's answers for the states it met last: its cells mostly have the same few states.
  class Answers {
   public:
    struct Answer {
      StateId in = ~0u, out = 0;
    };
    Answer& at(StateId s) { return all_[s % std::size(all_)]; }
    Answer last;

   private:
    Answer all_[8];
  };
  /// An access in progress: all that it touches, span after span.
  struct Touch {
    AccessId id;
    const WarpClock& who;
    Rule unwritten = Rule::none;  // of tensor memory
    bool follows = false;         // what it reads of memory that nothing has written is followed to its uses (absent_values.h)
    mutable bool found = false;   // it has read such memory
    Answers shared{}, tensor{}, global{};
  };
  void touch(const Span& s, Touch& t);
  void touch(const Span& s, AccessId id, const WarpClock& who) {
    Touch t{id, who};
    touch(s, t);
  }
  void touch(std::span<const SharedRun> runs, Touch& t);
  /// A copy reads the tensor map at that address.
  void read_map(uint64_t map, AccessId id, const WarpClock& who);
  /// A fence.proxy.tensormap acquires the map at that address, and no other: the edits that are `released`.
  void acquire_map(uint64_t map, const Clock& released) { acquired_maps_[map].join(released); }
  /// The copy may go on reading the map: `id` ends when it no longer does.
  void hold_map(uint64_t map, AccessId id, const WarpClock& who);

  /// A value that nothing has made, of that origin, was stored in shared memory.
  void store_undefined(uint32_t cta, uint32_t at, uint32_t bytes, const Access& origin);
  bool any_undefined() const { return undefined_origins_.size() > 1; }
  /// Whether none of the bytes has a value: nothing has written them, or such values were stored there; `stored`: the number of the first of those.
  bool is_undefined(uint32_t cta, uint32_t at, uint32_t bytes, uint16_t& stored) const;
  /// Nothing has written the cell of tensor memory.
  bool is_vacant(uint32_t cta, uint32_t lane, uint32_t column) const;
  const Access& origin_of_stored(uint16_t number) const { return undefined_origins_[number]; }

  /// Makes that access the last writer of bytes of shared memory, whatever was before.
  void overwrite(uint32_t cta, uint32_t begin, uint32_t bytes, AccessId id);
  /// Columns of tensor memory are free again: their states are dropped.
  void forget_columns(uint32_t cta, uint32_t column, uint32_t columns) { ctas_[cta].tensor.forget(column, columns); }

  /// The byte's writer, and the write under it if it is an atomic; 0: none. An address in shared memory is the cluster's.
  std::array<AccessId, 2> last_writers(uint64_t address, bool shared) const;
  const GlobalShadow& global() const { return global_; }
  const StateTable& states() const { return states_; }
  const std::vector<Suspect>& suspects() const { return suspects_; }
  /// Drops the state of the CTAs, which have ended; that of global memory stays.
  void clear() {
    ctas_.clear();
    held_maps_.clear();
    acquired_maps_.clear();
  }

 private:
  struct CtaMemory {
    CtaMemory(const Cta& c, bool bytes) : shared(bytes ? c.smem.size() : 0), undefined(bytes ? c.smem.size() : 0), tensor(kTmemColumns) {}
    SharedShadow shared;
    UndefinedBytes undefined;
    TensorShadow tensor;
  };
  /// An access whose result is not followed takes what came of tensor memory without a value, or of lanes that do not agree.
  void check_taken(const SharedRun& s, const Access& now);
  void touch_global(const Span& s, Touch& t);
  void touch_tensor(const Span& s, Touch& t);
  template <class Cells, class RuleOf, class Where>
  void touch_cells(Cells& cells, uint64_t begin, uint64_t end, const Touch& touch, const RuleOf& rule_of, const Where& where, Rule unwritten, Answers& known);
  void check_grid_wait(const Span& s, AccessId id, const WarpClock& who);
  void check_maps(const Span& s, const Touch& t);
  void suspect_unwritten(const Span& s, AccessId id);
  void check_pools(const Span& s, AccessId id);

  const Cluster& cluster_;
  const LaunchState& launch_;
  const AccessTable& accesses_;
  StateTable states_;
  Reporter& reporter_;
  Lifetimes& lifetimes_;
  UnusedReads& unused_;
  MbarrierLedger& mbarriers_;
  GlobalShadow global_;
  std::vector<CtaMemory> ctas_;
  std::vector<Access> undefined_origins_{1};  // [0]: none
  std::vector<Suspect> suspects_;
  std::map<uint64_t, std::vector<AccessId>> held_maps_;  // by address: the copies that may read the map, without those that end before a later one is issued
  std::map<uint64_t, Clock> acquired_maps_;              // by address, the edits that a fence with that address has acquired
  const Gmem::Allocation* allocation_ = nullptr;         // of the last suspicious read
};

}  // namespace drywell::sim::check
