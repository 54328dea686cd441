// One launch under a functional driver, run one step at a time, forward and back.
//
// A step is one warp instruction, or one moment (operand read; result write and signal) of one asynchronous operation, in
// the order in which the driver of the same policy and seed does them on one host thread; the last step is the end of the
// launch or its fault. The state of the machine is a function of the number of steps done, the position. Going back means
// restoring the nearest snapshot and doing steps again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "sim/debug/snapshot.h"
#include "sim/driver/cluster_stepper.h"
#include "sim/observe/hub.h"

namespace drywell::sim {

/// A warp of a launch.
struct WarpRef {
  uint64_t cluster = 0;
  uint32_t cta = 0;   // rank in the cluster
  uint32_t warp = 0;
  bool operator==(const WarpRef&) const = default;
};

/// What the last step did.
struct StepRecord {
  enum class Kind : uint8_t { none, instruction, moment, end } kind = Kind::none;
  WarpRef who;               // instruction: the warp; moment: the issuer
  uint32_t pc = 0;           // instruction; moment: that of the issuer's
  LaneMask lanes = 0;        // instruction: those that executed it
  bool diverged = false;     // instruction: its lanes went different ways, or the warp runs other lanes now
  uint64_t op = 0;           // moment: AsyncOp::id
  AsyncMoment moment = AsyncMoment::issue;  // read, or signal (written and signalled)
  AsyncOp::Payload payload;  // moment
  std::vector<uint64_t> issued;             // operations the instruction issued
  struct Phase { uint32_t mbarrier = 0; uint64_t now = 0; };  // rank << 24 | offset; the phase that is incomplete now
  std::vector<Phase> phases;                // completed by it
};

class Session {
 public:
  /// `launch` must outlive the session and its memory must not be touched by others. The policy is options.driver
  /// (timed: eager).
  Session(const Launch& launch, const RunOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// One step forward; false if the launch is over.
  bool step();
  /// Goes to a position: back, or forward but not past the end.
  void seek(uint64_t position);
  /// Starts again from the launch's memory, perhaps under another policy.
  void restart(DriverKind policy, uint64_t seed);

  uint64_t position() const { return position_; }
  bool over() const { return record_.kind == StepRecord::Kind::end; }
  const StepRecord& last() const { return record_; }
  /// Why the launch ended, if not because it was done.
  const std::optional<Fault>& fault() const { return fault_; }
  std::string output() const { return output_->text(); }
  RunResult result() const;

  const Launch& launch() const { return launch_; }
  const Program& program() const { return *launch_.program; }
  const RunOptions& options() const { return options_; }
  /// Clusters that started and have not ended, in launch order.
  std::vector<Cluster*> clusters();
  Cluster* find_cluster(uint64_t index);
  /// nullptr if it is not there (any more).
  Warp* find(const WarpRef& w);
  /// The warp whose turn it is, or that will do the next instruction as far as is known.
  std::optional<WarpRef> next_warp();

  /// Told what the steps do besides the listeners of the options; nullptr: nobody.
  void set_probe(Listener* probe) { probe_ = probe; }

  /// Position of the latest snapshot at or before `position`.
  uint64_t snapshot_before(uint64_t position) const;
  /// FNV-1a of everything the guest and the schedule can tell apart.
  uint64_t digest() const;

 private:
  class Recorder;
  // Which cluster runs: one after the other; then those that wait for each other take turns (run_functional).
  struct LaunchPosition {
    uint64_t taken = 0;       // clusters started
    bool together = false;
    static constexpr size_t kNone = ~size_t{0};
    size_t current = kNone;   // index in live_
    uint64_t slice_end = 0;
    bool progressed = false;
    uint64_t quiet = 0;
    uint64_t instructions = 0;
  };
  struct Snapshot {
    uint64_t position;
    LaunchPosition launch;
    std::vector<ClusterImage> clusters;
    uint64_t cancelled;
    MemoryImage memory;
    std::string output;
    StepRecord record;
  };

  void start_queue(uint64_t taken, uint64_t cancelled);
  bool advance();                // true when a step was done
  bool choose_cluster();
  void take_turns(bool erased, bool progressed);
  void end_with(std::optional<Fault> f);
  void keep_snapshot();
  void restore(const Snapshot& s);

  Launch launch_;
  RunOptions options_;
  ObserverHub hub_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<LaunchQueue> queue_;
  std::optional<OutputLog> output_;
  std::vector<std::unique_ptr<ClusterStepper>> live_;
  LaunchPosition at_;
  uint64_t position_ = 0;
  StepRecord record_;
  Listener* probe_ = nullptr;
  std::optional<Fault> fault_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // by position; the first is at 0
  uint64_t interval_;
};

}  // namespace drywell::sim
