// Global memory as the clusters of a launch left it: which of them wrote or read a byte, for races between clusters. Three accesses
// a byte are enough: its writer, a reader, and a reader of another cluster.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/check/monitor.h"

namespace drywell::sim::check {

class LaunchGlobal {
 public:
  void begin(const Launch& launch, const LaunchState& state);
  /// Adds what a cluster did, and reports what it did not do alone.
  void merge(const ClusterMonitor& m, Reporter& reporter);
  /// All clusters are in: what was read and nobody wrote. `state` then knows this launch as the one before.
  void finish(LaunchState& state, Reporter& reporter);

 private:
  struct Touch {
    AccessId writer = 0, reader = 0, other = 0;
    auto key() const { return std::tuple(writer, reader, other); }
  };
  /// Numbers here of what a monitor has numbered.
  struct Adopted {
    std::vector<AccessId> accesses;
    std::vector<uint32_t> fars;
  };
  AccessId adopt(const ClusterMonitor& m, AccessId id, Adopted& known);
  uint32_t adopt_far(const ClusterMonitor& m, uint32_t number, Adopted& known);
  Rule judge(const Access& prior, const Access& now) const;
  StateId intern(const Touch& t);
  StateId joined(StateId old, AccessId writer, AccessId reader, uint64_t at, Reporter& reporter);

  const LaunchState* state_ = nullptr;
  const Gmem* gmem_ = nullptr;
  std::vector<ClusterMonitor::Suspect> suspects_;
  AccessTable accesses_;
  std::vector<Far> fars_{1};  // [0]: nothing
  std::vector<Touch> touches_;
  std::map<std::tuple<AccessId, AccessId, AccessId>, StateId> numbers_;
  GlobalShadow shadow_;
};

}  // namespace drywell::sim::check
