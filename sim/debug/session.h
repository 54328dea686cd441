// One launch under a driver, run one step at a time, forward and back.
//
// A step is one warp instruction, or one moment (operand read; result write and signal) of one asynchronous operation, in
// the order in which the driver of the same policy and seed does them on one host thread; the last step is the end of the
// launch or its fault. Under the timing driver what it folds into an instruction (moves, arithmetic that rides along) is part of
// the same step. The state of the machine is a function of the number of steps done, the position. Going back means
// restoring the nearest snapshot (timing driver: the beginning) and doing steps again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "sim/debug/schedule.h"
#include "sim/debug/snapshot.h"
#include "sim/events/hub.h"

namespace drywell::sim {

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
  bool moved = false;        // an operation came to a moment: always if kind is moment, else it began within the instruction
  bool read_too = false;     // … and read its operands in the same step (timing driver)
  std::vector<uint64_t> issued;             // operations the instruction issued
  struct Executed { WarpRef who; uint32_t pc = 0; LaneMask lanes = 0; };
  std::vector<Executed> folded;             // timing driver: instructions that took no issue slot of their own
  struct Phase { uint32_t mbarrier = 0; uint64_t now = 0; };  // rank << 24 | offset; the phase that is incomplete now
  std::vector<Phase> phases;                // completed by it
};

class Session {
 public:
  /// `launch` must outlive the session and its memory must not be touched by others. The policy is options.driver.
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
  std::vector<Cluster*> clusters() { return schedule_->clusters(); }
  Cluster* find_cluster(uint64_t index);
  /// nullptr if it is not there (any more).
  Warp* find(const WarpRef& w);
  /// The warp whose turn it is, or that will do the next instruction as far as is known.
  std::optional<WarpRef> next_warp() const { return schedule_->next_warp(); }
  /// Clock of the SMs a resident cluster is on; nothing under a functional driver.
  std::optional<uint64_t> cycle(uint64_t cluster) const { return schedule_->cycle(cluster); }
  /// What a warp waits for in time: "issues at cycle 812 (memory)"; "" under a functional driver.
  std::string waiting(const Warp& w) const { return schedule_->waiting(w); }
  /// Changes when the launch is started again: what was learnt of positions before holds no more.
  uint64_t generation() const { return generation_; }

  /// Told what the steps do from now on, besides the listeners of the options.
  void attach(Listener& probe);
  void detach(Listener& probe);
  /// Goes to the beginning and attaches `probe`, telling it of the CTAs that are there.
  void begin_with(Listener& probe);

  /// Position of the latest snapshot at or before `position`.
  uint64_t snapshot_before(uint64_t position) const;
  /// FNV-1a of everything the guest and the schedule can tell apart.
  uint64_t digest() const;

 private:
  class Recorder;
  struct Snapshot {
    uint64_t position;
    std::unique_ptr<ScheduleImage> schedule;  // nullptr: of the beginning, made anew
    MemoryImage memory;
    std::string output;
    StepRecord record;
  };

  std::unique_ptr<Schedule> make_schedule();
  void rebuild_hub();
  void end_with(std::optional<Fault> f);
  void keep_snapshot();
  void restore(const Snapshot& s);

  Launch launch_;
  RunOptions options_;
  ObserverHub hub_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<OutputLog> output_;
  std::unique_ptr<Schedule> schedule_;
  uint64_t position_ = 0;
  StepRecord record_;
  std::vector<Listener*> probes_;
  std::optional<Fault> fault_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // by position; the first is at 0
  uint64_t interval_;
  uint64_t generation_ = 0;
};

}  // namespace drywell::sim
