// Global memory as the clusters of a launch left it: which clusters wrote or read a byte, for races between clusters. Three accesses
// a byte are enough: its writer, a reader, and a reader of another cluster. Clusters that learn of each other on the way (cooperative kernels) may
// do the same again later: of each there are also a write and a read from before it last learnt something.
#pragma once

#include <array>
#include <vector>

#include "sim/check/monitor.h"

namespace drywell::sim::check {

class GlobalRaceMerger {
 public:
  void begin(const Launch& launch, const LaunchState& state);
  /// Adds a cluster's accesses, and reports those that race with other clusters' accesses.
  void merge(const ClusterMonitor& m, Reporter& reporter);
  /// Of the clusters that are merged; nullptr: none.
  const Access* last_writer(uint64_t address) const {
    AccessId id = 0;
    shadow_.each_in(address, address + 1, [&](uint64_t, StateId s) { id = touches_[s].writer; });
    return id == 0 ? nullptr : &accesses_[id];
  }
  /// All clusters are merged: reports reads of bytes that no cluster wrote. `state` then has this launch as the previous one.
  void finish(LaunchState& state, Reporter& reporter);

 private:
  struct Touch {
    AccessId writer = 0, same_before = 0, reader = 0, other = 0, earlier_writer = 0, earlier_reader = 0;
    AccessId under : 30 = 0;    // bits: the table of touches is what large launches wait for
    AccessId several : 1 = 0;   // clusters wrote the byte
    AccessId was_read : 1 = 0;  // by a cluster that wrote the byte
    bool operator==(const Touch&) const = default;
  };
  /// Numbers them, equal ones alike: an open hash table, because a kernel that stores much has one for every store.
  class Touches {
   public:
    const Touch& operator[](StateId s) const { return all_[s]; }
    StateId number(const Touch& t);
    void clear() { *this = {}; }

   private:
    static uint64_t hash(const Touch& t);
    void insert(StateId s);
    void grow();

    std::vector<Touch> all_{1};                                // [0]: none
    std::vector<StateId> table_ = std::vector<StateId>(1024);  // 0: free
    unsigned bits_ = 64 - 10;                                  // bits of a hash that are not used
  };
  /// Maps a monitor's numbers to the numbers here.
  struct Adopted {
    std::vector<AccessId> accesses;
    std::vector<uint32_t> fars;
  };
  AccessId adopt(const ClusterMonitor& m, AccessId id, Adopted& known);
  uint32_t adopt_repeated(const ClusterMonitor& m, uint32_t number) { return number == 0 ? 0 : repeated_.add(m.repeated()[number]); }
  uint32_t adopt_cross_cluster(const ClusterMonitor& m, uint32_t number, Adopted& known);
  Rule race_between(const Access& prior, const Access& now) const;
  /// What one cluster left in a cell: StateTable's writer, the write before it, a reader, the write under its atomics, and whether the cell
  /// was read.
  struct Left {
    AccessId writer = 0, same_before = 0, reader = 0, under = 0;
    bool was_read = false;
    AccessId earlier_writer = 0, earlier_reader = 0;
    bool operator==(const Left&) const = default;
  };
  /// Reports accesses of one cluster, from before it last learnt of others, that race with another cluster's.
  bool check_earlier(const Touch& t, const Left& left, uint64_t at, Reporter& reporter) const;
  bool report_race(AccessId prior, AccessId now, Rule r, uint64_t at, Reporter& reporter) const;
  /// Both store the same value in a byte that neither's cluster had read: the memory has it, whichever is last.
  bool store_the_same(const Touch& t, const Left& left) const;
  void put_writer(Touch& t, const Left& left, bool same) const;
  /// The write that is no atomic, under those of all clusters so far and of that one.
  AccessId under(const Touch& t, const Left& left) const;
  /// Whether some cluster wrote it, other than by an atomic whose result depends on what was there.
  bool wrote_first(const Touch& t) const { return t.under != 0 || (t.writer != 0 && !accesses_[t.writer].reads); }
  /// Whether what a load found there may be another cluster's. Its own cluster had not written it then.
  bool wrote_elsewhere(const Touch& t, const Access& load) const { return t.several || (t.writer != 0 && accesses_[t.writer].cluster != load.cluster); }
  StateId joined(StateId old, const Left& now, uint64_t at, Reporter& reporter);
  /// A recent answer of joined() that reported nothing.
  struct Joined {
    StateId old = 0;
    Left left{};
    StateId result = 0;  // 0: nothing
  };

  const LaunchState* state_ = nullptr;
  Gmem* gmem_ = nullptr;
  std::vector<Suspect> suspects_;
  AccessTable accesses_;
  RepeatedStores repeated_;
  std::vector<CrossClusterKnowledge> cross_cluster_{1};  // [0]: nothing
  Touches touches_;
  std::array<Joined, 256> joined_{};
  GlobalShadow shadow_;
};

}  // namespace drywell::sim::check
