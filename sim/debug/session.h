// One launch under a driver, run one step at a time, forward and back.
//
// A step is one warp instruction, or one moment (operand read; result write and signal) of one asynchronous operation, in
// the order of the driver with the same policy and seed on one host thread. The last step is the end of the launch or its
// fault. Under the timing driver, instructions that it folds into another one (moves, arithmetic) are part of the same step.
// The position is the number of steps done; the state of the machine is a function of it. To go back, the session restores
// the nearest snapshot (timing driver: the beginning) and repeats steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "sim/debug/schedule.h"
#include "sim/debug/snapshot.h"
#include "sim/events/hub.h"

namespace drywell::sim {

/// Record of the last step.
struct StepRecord {
  enum class Kind : uint8_t {
    none,
    instruction,
    moment,
    end
  } kind = Kind::none;
  WarpRef who;                              // instruction: the warp; moment: the issuer
  uint32_t pc = 0;                          // of the instruction; moment: of the instruction that issued the operation
  LaneMask lanes = 0;                       // instruction: the lanes that executed it
  bool diverged = false;                    // instruction: its lanes diverged, or the warp runs other lanes now
  uint64_t op = 0;                          // moment: AsyncOp::id
  AsyncMoment moment = AsyncMoment::issue;  // read, or signal (written and signalled)
  AsyncOp::Payload payload;                 // moment
  bool moved = false;                       // an operation reached a moment: always if kind is moment, otherwise within the instruction's step
  bool read_too = false;                    // … and read its operands in the same step (timing driver)
  std::vector<uint64_t> issued;             // operations the instruction issued
  struct Executed {
    WarpRef who;
    uint32_t pc = 0;
    LaneMask lanes = 0;
  };
  std::vector<Executed> folded;  // timing driver: instructions without an issue slot of their own
  struct Phase {
    uint32_t mbarrier = 0;
    uint64_t now = 0;
  };                          // rank << 24 | offset; the phase that is incomplete now
  std::vector<Phase> phases;  // phases that the step completed
};

class Session {
 public:
  /// `launch` must outlive the session; only the session may use its memory. The policy is options.driver.
  Session(const Launch& launch, const RunOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Does one step; returns false if the launch has ended.
  bool step();
  /// Goes to a position: back, or forward but not past the end.
  void seek(uint64_t position);
  /// Starts again from the launch's initial memory under the given policy.
  void restart(DriverKind policy, uint64_t seed);

  /// Changes the state at this position: a register or memory. A session that reaches this position again, forward or back, has the change; later
  /// steps and changes belong to another run and are forgotten. `change` returns false if there was nothing to change; then nothing is kept.
  bool edit(std::function<bool(Session&)> change);

  uint64_t position() const { return position_; }
  bool over() const { return record_.kind == StepRecord::Kind::end; }
  const StepRecord& last() const { return record_; }
  /// The fault that ended the launch, if any.
  const std::optional<Fault>& fault() const { return fault_; }
  std::string output() const { return output_->text(); }
  RunResult result() const;

  const Launch& launch() const { return launch_; }
  const Program& program() const { return *launch_.program; }
  const RunOptions& options() const { return options_; }
  /// Clusters that have started and not finished, in launch order.
  std::vector<Cluster*> clusters() { return schedule_->clusters(); }
  Cluster* find_cluster(uint64_t index);
  /// nullptr if the warp's cluster has not started or has finished.
  Warp* find(const WarpRef& w);
  /// The warp that has the turn, or the warp that is expected to execute the next instruction.
  std::optional<WarpRef> next_warp() const { return schedule_->next_warp(); }
  /// Clock of the SMs of a resident cluster; nullopt under a functional driver.
  std::optional<uint64_t> cycle(uint64_t cluster) const { return schedule_->cycle(cluster); }
  /// "issues at cycle 812 (memory)" or "waits since cycle 812 (…)" for a waiting warp; "" under a functional driver.
  std::string waiting(const Warp& w) const { return schedule_->waiting(w); }
  /// Changes when the launch is started again: facts about positions of an earlier generation are no longer valid.
  uint64_t generation() const { return generation_; }

  /// Adds a listener for the next steps, besides the listeners of the options.
  void attach(Listener& probe);
  void detach(Listener& probe);
  /// Goes to the beginning, attaches `probe` and notifies it of the CTAs that have started.
  void begin_with(Listener& probe);

  /// Position of the latest snapshot at or before `position`.
  uint64_t snapshot_before(uint64_t position) const;
  /// FNV-1a hash of the state that the guest or the schedule can observe.
  uint64_t digest() const;

 private:
  class Recorder;
  struct Snapshot {
    uint64_t position;
    std::unique_ptr<ScheduleImage> schedule;  // nullptr: the beginning, where a new schedule is made
    MemoryImage memory;
    std::string output;
    StepRecord record;
  };

  struct Edit {
    uint64_t position;
    std::function<bool(Session&)> change;
  };

  std::unique_ptr<Schedule> make_schedule();
  void edit_again(uint64_t position);
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
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // by position; the first is at 0. Taken before the edits there
  std::vector<Edit> edits_;                           // by position
  uint64_t interval_;
  uint64_t generation_ = 0;
};

}  // namespace drywell::sim
