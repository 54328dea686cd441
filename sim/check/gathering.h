// What the clusters of a launch found, put together in the order of their numbers, whichever host thread ran which and when.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/check/global_race_merger.h"
#include "sim/check/monitor.h"

namespace drywell::sim::check {

class Gathering {
 public:
  explicit Gathering(const CheckOptions& o) : reporter_(o.most), met_(o.most) {}

  void begin(const Launch& launch, LaunchState& state);
  /// A cluster starts, or one of its CTAs does: the first makes its monitor.
  void start(const Cluster& c) {
    if (monitors_[c.index] == nullptr) monitors_[c.index] = std::make_unique<ClusterMonitor>(c, *state_, started(c));
  }
  ClusterMonitor& monitor(uint64_t cluster) { return *monitors_[cluster]; }
  /// Takes over what is known for good: clusters that are over and whose predecessors are.
  void collect(const Cluster& c);
  /// The launch is over. Clusters up to the first that could not end count: those after it depend on the host's threads.
  void finish();
  std::vector<Finding> findings() const { return reporter_.sorted(); }
  std::vector<uint32_t> waits_without_news() const;
  /// In the order they are met, for whoever looks while one host thread runs the launch.
  const std::vector<Finding>& so_far();

 private:
  /// Notes that it starts. Returns what the operations of a cluster that is over touched, for this one's.
  std::unique_ptr<KnownFootprints> started(const Cluster& c);
  void take(uint64_t cluster);
  void meet(uint64_t cluster);

  LaunchState* state_ = nullptr;
  std::vector<std::unique_ptr<ClusterMonitor>> monitors_;  // by number of the cluster
  std::mutex mutex_;                                       // of all that follows
  uint64_t next_ = 0;
  std::vector<bool> over_;
  LaunchGlobal global_;
  Reporter reporter_;
  Reporter met_;
  uint64_t started_ = 0;
  std::vector<std::unique_ptr<KnownFootprints>> footprints_;  // of clusters that are over, for those that start
  std::map<uint32_t, bool> waits_;  // of the latest launch, by line of the PTX: whether any execution brought news
  std::vector<size_t> told_;  // by cluster: findings that are in met_
};

}  // namespace drywell::sim::check
