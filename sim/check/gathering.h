// The findings of a launch's clusters, merged in the order of the clusters' numbers, whatever the host threads' order.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "sim/check/by_cluster.h"
#include "sim/check/global_race_merger.h"
#include "sim/check/monitor.h"

namespace drywell::sim::check {

class Gathering {
 public:
  explicit Gathering(const CheckOptions& o) : reporter_(o.most), met_(o.most) {}

  void begin(const Launch& launch, LaunchState& state);
  /// A cluster starts, or one of its CTAs does: the first call makes the cluster's monitor.
  void start(const Cluster& c) {
    std::unique_ptr<ClusterMonitor>& monitor = clusters_.at(c.index).monitor;
    if (monitor == nullptr) monitor = std::make_unique<ClusterMonitor>(c, *state_, started(c));
  }
  ClusterMonitor& monitor(uint64_t cluster) { return *clusters_.at(cluster).monitor; }
  /// Merges the final results: those of clusters that have ended and whose predecessors have.
  void collect(const Cluster& c);
  /// The launch has ended. Clusters up to the first that could not end count: those after it depend on the host's threads.
  void finish();
  std::vector<Finding> findings() const { return reporter_.sorted(); }
  std::vector<uint32_t> waits_without_news() const;
  /// Who wrote that byte last, in words: of global memory, or of shared memory of the cluster. `alone`: only what this cluster has done is looked at.
  std::string last_writer(uint64_t cluster, uint64_t address, bool shared, bool alone);
  /// In the order of detection, for a reader while one host thread runs the launch.
  const std::vector<Finding>& so_far();

 private:
  /// Notes that the cluster starts. Returns the footprints of a cluster that has ended, for use by this one.
  std::unique_ptr<KnownFootprints> started(const Cluster& c);
  void take(uint64_t cluster);
  void meet(uint64_t cluster);

  struct OfCluster {
    std::unique_ptr<ClusterMonitor> monitor;
    bool over = false;  // guarded by mutex_, as is `told`
    size_t told = 0;    // number of findings that are in met_
  };
  LaunchState* state_ = nullptr;
  ByCluster<OfCluster> clusters_;
  std::mutex mutex_;  // guards all that follows
  uint64_t next_ = 0;
  GlobalRaceMerger global_;
  Reporter reporter_;
  Reporter met_;
  uint64_t started_ = 0;
  std::vector<std::unique_ptr<KnownFootprints>> footprints_;  // of clusters that have ended, for those that start
  std::map<uint32_t, bool> waits_;                            // of the latest launch, by line of the PTX: whether an execution ordered something new before its warp
};

}  // namespace drywell::sim::check
