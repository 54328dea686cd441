// The findings of a launch's clusters, merged in the order of the clusters' numbers, whatever the host threads' order.
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
  /// A cluster starts, or one of its CTAs does: the first call makes the cluster's monitor.
  void start(const Cluster& c) {
    if (monitors_[c.index] == nullptr) monitors_[c.index] = std::make_unique<ClusterMonitor>(c, *state_, started(c));
  }
  ClusterMonitor& monitor(uint64_t cluster) { return *monitors_[cluster]; }
  /// Merges the final results: those of clusters that have ended and whose predecessors have.
  void collect(const Cluster& c);
  /// The launch has ended. Clusters up to the first that could not end count: those after it depend on the host's threads.
  void finish();
  std::vector<Finding> findings() const { return reporter_.sorted(); }
  std::vector<uint32_t> waits_without_news() const;
  /// In the order of detection, for a reader while one host thread runs the launch.
  const std::vector<Finding>& so_far();

 private:
  /// Notes that the cluster starts. Returns the footprints of a cluster that has ended, for use by this one.
  std::unique_ptr<KnownFootprints> started(const Cluster& c);
  void take(uint64_t cluster);
  void meet(uint64_t cluster);

  LaunchState* state_ = nullptr;
  std::vector<std::unique_ptr<ClusterMonitor>> monitors_;  // by number of the cluster
  std::mutex mutex_;                                       // guards all that follows
  uint64_t next_ = 0;
  std::vector<bool> over_;
  LaunchGlobal global_;
  Reporter reporter_;
  Reporter met_;
  uint64_t started_ = 0;
  std::vector<std::unique_ptr<KnownFootprints>> footprints_;  // of clusters that have ended, for those that start
  std::map<uint32_t, bool> waits_;  // of the latest launch, by line of the PTX: whether an execution ordered something new before its warp
  std::vector<size_t> told_;  // by cluster: number of findings that are in met_
};

}  // namespace drywell::sim::check
