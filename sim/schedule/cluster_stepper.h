// One cluster under a functional policy, in pieces of any size: the functional driver takes big ones, the debugger one
// warp instruction or one moment of an asynchronous operation at a time. Either way the schedule is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/schedule/functional.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// splitmix64: small, and the same everywhere.
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

/// What one piece of the schedule was. `decision`: nothing happened yet, only who is next was decided.
enum class Advance : uint8_t { decision, instruction, moment, finished, stuck, fault };

enum class ClusterStop : uint8_t { finished, stuck, slice, fault };

/// Where in its schedule a cluster is, apart from the machine's state. Plain data: copy it and put it back.
///
/// A round gives every warp a turn of some instructions. Eager: what a warp issues asynchronously settles (everything
/// that is ready happens) before the warp goes on. Lazy and shuffled: an operation happens at the end of a round;
/// shuffled: also after some turns, one moment at a time.
struct SchedulePosition {
  enum class At : uint8_t { round, next_turn, turn, issued, turn_over, settle, operation, round_over, idle };
  explicit SchedulePosition(uint64_t seed) : random(seed) {}
  At at = At::round;
  At then = At::round;         // after settling
  Random random;
  std::vector<uint32_t> order; // warps (CTA by CTA) in the order of their turns
  uint32_t turn = 0;           // index in `order`
  uint64_t budget = 0;         // instructions left in this turn
  uint64_t turn_start = 0;     // Warp::instructions when it began
  bool ran = false;            // some warp did something in this round
  bool settled = false;        // something happened in this pass over the operations
  size_t op = 0;               // settle, operation: index of the one whose moment is next
  uint64_t round_progress = 0, issue_progress = 0;  // Cluster::progress then
  uint64_t instructions = 0;   // of turns that are over
  uint64_t idle_progress = ~uint64_t{0};
  uint32_t idle_rounds = 0;
};

class ClusterStepper {
 public:
  static constexpr uint64_t kWhole = ~uint64_t{0};
  /// Makes the cluster.
  ClusterStepper(const Launch& launch, const RunOptions& options, uint64_t index);

  /// The next piece: up to `grain` instructions of the warp whose turn it is; or one moment of an operation (all its
  /// remaining ones if grain is kWhole); or a decision.
  Advance advance(uint64_t grain);
  /// Runs until the end, a fault, no possible progress, or about `slice` instructions.
  ClusterStop run(uint64_t slice);

  const Fault& fault() const { return *fault_; }
  Cluster& cluster() { return *cluster_; }
  const Cluster& cluster() const { return *cluster_; }
  uint64_t instructions() const { return s_.instructions; }
  bool at_round() const { return s_.at == SchedulePosition::At::round; }
  const std::vector<Warp*>& warps() const { return warps_; }

  const SchedulePosition& position() const { return s_; }
  /// Goes on from another place of the schedule; the caller has put the cluster's state back to what it was there.
  void set_position(const SchedulePosition& p) {
    s_ = p;
    fault_.reset();
  }

 private:
  // How many instructions a warp runs before others get a turn. Small enough that spinning warps do not hold up the rest.
  uint64_t quantum() { return policy_ == DriverKind::shuffled ? 1 + s_.random.below(256) : 4096; }

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
  bool time_out_waits();

  std::unique_ptr<Cluster> cluster_;
  const Program& program_;
  DriverKind policy_;
  std::vector<Warp*> warps_;  // CTA by CTA
  SchedulePosition s_;
  std::optional<Fault> fault_;
};

}  // namespace drywell::sim
