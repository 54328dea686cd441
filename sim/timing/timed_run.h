// One launch under the timing driver, whole or step by step. A window is a time in which no two SMs can influence each other: in it
// each group of SMs (sim/timing/group.h) runs on its own, then their requests to memory are served in the order of cycles.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/state/state_memory.h"
#include "sim/timing/group.h"
#include "sim/timing/residency.h"
#include "sim/timing/timed_wait.h"

namespace drywell::sim {

class TimedRun {
 public:
  /// Both must outlive the run.
  TimedRun(const Launch& launch, const RunOptions& options);

  /// Runs to the end, on several host threads if the launch permits.
  RunResult run();

  /// Executes one event or one instruction of one group: groups in the order of SMs, window by window. Returns false at the end of the run.
  /// The order is that of run() with a listener attached.
  bool advance();
  RunResult result();

  /// The group of the next step, if the window continues.
  const Group* next_group() const;
  /// Clusters on the SMs, in launch order.
  std::vector<Cluster*> clusters();
  /// The group a resident cluster is on; nullptr if it has ended or not started.
  const Group* group_of(uint64_t cluster) const;
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  Time deal(uint32_t group, double t, double on_the_way = 0);
  double way_to(uint32_t group) const;
  double note_end(Time t);
  Residency resident_at_once() const;
  void deal_first_wave();
  void serve_memory();
  void replace_finished();
  bool stop(Time now);
  std::optional<Fault> bound_reached(uint64_t instructions) const;
  GuestPlace a_place() const;
  const Cluster* first_live_cluster() const;
  std::vector<const Cluster*> live_clusters() const;
  bool time_outs_are_in_vain(Time now);
  uint64_t state_of_all() const;
  uint64_t instructions_of_live_warps() const;
  bool in_order() const;
  unsigned host_threads() const;
  Time window() const;
  // Returns false if no event is left: the run has ended.
  bool open_window();
  bool close_window();

  LaunchQueue queue_;
  StateMemory state_;
  Launch launch_;
  const RunOptions& options_;
  RunBounds bounds_;
  std::optional<ArchConfig> own_arch_;  // at a clock of the user's
  const ArchConfig& arch_;
  TimedProgram program_;
  TimingContext context_;
  Residency residency_;
  MemorySystem memory_;
  Server dispatcher_;             // of CTAs
  std::vector<Server> starters_;  // of their warps, for each group
  double ends_noted_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<uint32_t> gpc_of_group_, first_sm_of_group_;
  std::vector<uint32_t> active_;  // groups with an event or instruction in this window
  size_t turn_ = 0;               // advance(): index in active_
  bool window_open_ = false;
  Time until_ = 0;  // end of the window
  uint64_t started_ = 0, finished_ = 0;
  uint64_t quiet_progress_ = 0;
  Time quiet_since_ = 0, compared_at_ = 0;
  std::optional<uint64_t> quiet_state_;  // of all clusters that run
  TimedWait wait_;
  std::optional<Fault> fault_;
};

}  // namespace drywell::sim
