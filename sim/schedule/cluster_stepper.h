// Runs one cluster under a functional policy, in pieces of any size. The functional driver takes large pieces; the debugger
// takes one warp instruction or one moment of an asynchronous operation. The schedule does not depend on the size.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/schedule/endless_wait.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/run_bounds.h"
#include "sim/schedule/spin_watch.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// splitmix64: returns the same numbers on every host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

/// Kind of one piece of the schedule. `decision`: only the next warp or operation was chosen; the machine's state is unchanged.
enum class Advance : uint8_t {
  decision,
  instruction,
  moment,
  finished,
  stuck,
  fault
};

enum class ClusterStop : uint8_t {
  finished,
  stuck,
  slice,
  fault
};

/// Position of a cluster in its schedule, without the machine's state. Plain data: a copy restores the position.
///
/// In a round every warp gets a turn of a number of instructions. Eager: after a warp issues an asynchronous operation, all
/// ready operations complete before the warp continues. Lazy and shuffled: an operation completes at the end of a round.
/// Shuffled: one moment of an operation is performed, also after some turns; before some rounds one suspended try_wait is made to
/// answer false, and in some turns the first one. kPartLanes: in some turns part of the warp's lanes run ahead of the others.
struct SchedulePosition {
  enum class At : uint8_t {
    round,
    next_turn,
    turn,
    issued,
    turn_over,
    settle,
    operation,
    round_over,
    idle
  };
  explicit SchedulePosition(uint64_t seed) : random(seed) {}
  At at = At::round;
  At then = At::round;  // state after `settle`
  Random random;
  std::vector<uint32_t> order;                      // warps (CTA by CTA) in the order of their turns
  uint32_t turn = 0;                                // index in `order`
  uint64_t budget = 0;                              // instructions left in this turn
  uint64_t turn_start = 0;                          // Warp::instructions at the start of this turn
  bool hurried = false;                             // a try_wait of this turn answers false at once
  bool ran = false;                                 // a warp executed an instruction in this round
  bool settled = false;                             // this pass over the operations performed one
  size_t op = 0;                                    // settle, operation: index of the operation whose moment is next
  uint64_t round_progress = 0, issue_progress = 0;  // Cluster::progress at the start of the round, at the issue
  uint64_t instructions = 0;                        // executed in complete turns
  uint64_t idle_progress = ~uint64_t{0};
  uint32_t idle_rounds = 0;  // time-outs in a row without an event
  uint64_t idle_state = 0;   // fingerprint of the warps at one of them
  SpinWatch watch;
  EndlessWait endless;
};

class ClusterStepper {
 public:
  static constexpr uint64_t kWhole = ~uint64_t{0};
  /// `bounds` must outlive the stepper; only run() looks at them.
  ClusterStepper(const Launch& launch, const RunOptions& options, const RunBounds& bounds, uint64_t index);

  /// Runs the next piece: up to `grain` instructions of the warp that has the turn, one moment of an operation (all remaining
  /// moments if grain is kWhole), or a decision.
  Advance advance(uint64_t grain);
  /// Runs until the cluster finishes, faults, is stuck or spins (ClusterStop::slice), or for about `slice` instructions.
  ClusterStop run(uint64_t slice) {
    return run(slice, [](ClusterStepper& c) { return c.advance(kWhole); });
  }
  /// `step` advances it, by any grain, and returns what came of it.
  ClusterStop run(uint64_t slice, const std::function<Advance(ClusterStepper&)>& step);
  /// Called where a slice begins, and between rounds: whether the cluster waits for another one, and the slice should end.
  void begin_slice() { s_.watch.restart(s_.instructions); }
  bool gives_way() { return s_.watch.waits(*cluster_, warps_, program_, s_.instructions); }

  const Fault& fault() const { return *fault_; }
  Cluster& cluster() { return *cluster_; }
  const Cluster& cluster() const { return *cluster_; }
  uint64_t instructions() const { return s_.instructions; }
  bool at_round() const { return s_.at == SchedulePosition::At::round; }
  const std::vector<Warp*>& warps() const { return warps_; }

  const SchedulePosition& position() const { return s_; }
  /// Continues from another position; the caller must first restore the cluster's state of that position.
  void set_position(const SchedulePosition& p) {
    s_ = p;
    fault_.reset();
  }

 private:
  uint64_t quantum();

  Advance begin_round();
  Advance next_turn();
  Advance run_turn(uint64_t grain);
  Advance after_issue();
  Advance end_turn();
  Advance settle(uint64_t grain);
  Advance end_round(uint64_t grain);
  Advance idle();
  void start_settling(SchedulePosition::At then);
  bool pick_operation();
  Advance operate(size_t index, bool whole, bool& completed);
  bool catch_up();
  bool time_out_waits();
  bool waits_for_ever();
  void time_out_one_wait();
  void part_lanes(Warp& w);
  bool stopped();

  std::unique_ptr<Cluster> cluster_;
  const Program& program_;
  DriverKind policy_;
  bool part_lanes_;
  bool in_grid_;  // of a cooperative launch
  const RunBounds& bounds_;
  std::vector<Warp*> warps_;  // CTA by CTA
  SchedulePosition s_;
  std::optional<Fault> fault_;
};

}  // namespace drywell::sim
