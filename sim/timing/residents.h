// The clusters that are resident on a group's SMs: the places of their CTAs and warps, and their ends.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/timing/sm.h"
#include "sim/timing/stall_account.h"
#include "sim/timing/wake_list.h"

namespace drywell::sim {

struct Resident {
  std::unique_ptr<Cluster> cluster;  // nullptr: the place is free
  std::vector<uint32_t> warps;
  uint32_t live_warps = 0;
  WakeList waits;
};

class Residents {
 public:
  Residents(const TimingContext& context, std::vector<SmUnits>& sms, StallAccount& account) : context_(context), sms_(sms), account_(account) {}

  /// Cluster `index` will begin. Returns its number for begin().
  uint32_t announce(uint64_t index);
  /// Makes the announced cluster: its CTAs are on their SMs, its warps wait for their first schedule. Returns its place.
  uint32_t begin(uint32_t announced, Time t);
  /// A warp has exited.
  void end_warp(WarpIssueState& w);
  /// Frees the cluster's place if its warps have exited and its operations are complete. Returns the fault that its end is (F3214).
  std::optional<Fault> end_if_complete(uint32_t place, Time t);

  /// Clusters that have ended, until the driver takes them.
  struct Finished {
    uint64_t cluster = 0;
    Time at = 0;
  };
  std::vector<Finished> finished;

  Resident& at(uint32_t place) { return all_[place]; }
  std::vector<Resident>& all() { return all_; }
  WarpIssueState& warp(uint32_t id) { return *warps_[id]; }
  const WarpIssueState& warp(uint32_t id) const { return *warps_[id]; }
  /// The state of a warp that has been scheduled; nullptr: it is not resident or has not.
  const WarpIssueState* find(const Warp& warp) const;

  /// No cluster is resident, and none is announced.
  bool none() const { return live_ == 0; }
  bool holds(uint64_t cluster) const;
  void add_clusters(std::vector<Cluster*>& all) const;
  /// The resident cluster with the lowest index; nullptr: there is none.
  const Cluster* first() const;
  /// Grows with every event that can change the result of a wait.
  uint64_t progress() const;

 private:
  uint32_t free_place();
  uint32_t free_warp();
  void place_cta(uint32_t place, Cta& cta, Time t);
  size_t first_partition(SmUnits& sm, size_t warps) const;
  void place_warp(uint32_t place, Warp& warp, uint16_t sm, size_t first_partition, Time t);
  void take_away(uint32_t warp, Time t);

  const TimingContext& context_;
  std::vector<SmUnits>& sms_;
  StallAccount& account_;
  std::vector<std::unique_ptr<WarpIssueState>> warps_;
  std::vector<uint32_t> free_warps_;
  std::vector<Resident> all_;
  std::vector<uint32_t> free_;
  std::vector<uint64_t> announced_;  // cluster indices
  uint32_t live_ = 0;
  uint32_t begun_ = 0;  // clusters so far
  uint64_t ended_progress_ = 0;
};

}  // namespace drywell::sim
