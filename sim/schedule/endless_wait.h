// How a functional driver notices that a cluster waits for ever although its warps run: they poll by mbarrier.test_wait, or by try_wait in loops
// that read a clock (libcu++), so that their registers never repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/cta.h"

namespace drywell::sim {

/// What can end the loops in which a warp's lanes wait.
enum class WaitsOn : uint8_t {
  cluster,  // its mbarriers, shared memory
  device,   // global memory, too
  host      // memory that the host may write, or it is not known
};
WaitsOn waits_on(const Warp& w, const Program& p);

/// Plain data.
class EndlessWait {
 public:
  /// Called at the end of each round in which nothing is in flight. True if each group of lanes is in a loop that only an mbarrier or shared memory
  /// can end (sim/exec/closed_waits.h), or at a barrier, and nothing has changed for many rounds: nothing of the cluster can change them then.
  bool proven(const Cluster& c, const std::vector<Warp*>& warps);

 private:
  uint64_t state_ = 0, progress_ = 0;
  uint32_t rounds_ = 0;
};

}  // namespace drywell::sim
