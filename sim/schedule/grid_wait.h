// How the functional driver notices that the clusters of a launch wait for each other, through global memory, for ever.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/schedule/cluster_stepper.h"

namespace drywell::sim {

/// Watches clusters that take turns, when no other one is to begin. Every so many rounds it looks at each of their instructions, until one changes memory, or until it is
/// proven that nothing can end their waits: each lane is at a barrier, or in a loop that only what it reads can end, each loop has gone round until all that it computes
/// comes from what it read, and memory has not changed meanwhile. The schedule is the same with it and without.
class GridWait {
 public:
  using Steppers = std::vector<std::unique_ptr<ClusterStepper>>;

  /// A turn of a cluster, as ClusterStepper::run.
  ClusterStop run(ClusterStepper& c, uint64_t slice);
  /// Each cluster has had a turn. `ended`: one of them has ended. True if they wait for ever.
  bool round_over(const Steppers& all, bool ended);

 private:
  struct Waiting {
    uint64_t state = 0;                      // where its lanes are
    std::array<uint64_t, kWarpSize> left{};  // instructions that each has to execute
  };

  bool begin(const Steppers& all);
  bool add(const Warp& w, const Program& p);
  Advance step(ClusterStepper& c);
  bool stays(const Warp& w, const Program& p, LaneMask ran);
  /// Instructions after which the loop around `pc` computes what it did before; 0: there is none.
  uint64_t turns_of(uint32_t pc) const;
  uint32_t loop_at(uint32_t pc) const { return at_.empty() ? 0 : at_[pc]; }

  bool loops_known_ = false;
  std::vector<ClosedWait> loops_;
  std::vector<uint32_t> at_;
  bool looking_ = false, failed_ = false;
  uint64_t rounds_ = 0, next_look_ = 64;
  uint64_t left_ = 0;  // instructions of all lanes
  std::map<const Warp*, Waiting> warps_;
};

}  // namespace drywell::sim
