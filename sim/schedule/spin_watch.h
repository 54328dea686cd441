// How a driver notices that a cluster waits for a value that another cluster writes. Programs bound such waits by attempts or by a clock, so a
// cluster that runs alone must not poll for long before the other one has run.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/cta.h"

namespace drywell::sim {

struct Program;

/// Plain data. Giving way too early costs time and no more.
class SpinWatch {
 public:
  /// True if the cluster polls or spins. Called between rounds; `instructions` of the cluster, which only grow.
  bool waits(const Cluster& c, const std::vector<Warp*>& warps, const Program& p, uint64_t instructions);
  /// A new slice begins.
  void restart(uint64_t instructions);
  bool has_waited() const { return waited_; }

 private:
  bool polls(const std::vector<Warp*>& warps, const Program& p, uint64_t instructions);
  bool spins(const Cluster& c, uint64_t ran);

  static constexpr unsigned kLooks = 64;  // rounds that are compared with one state
  uint64_t begin_ = 0;                    // of the slice
  uint64_t polling_since_ = 0, may_poll_since_ = 0;
  uint64_t next_look_ = 0, state_ = 0;
  unsigned looks_ = 0;
  bool waited_ = false;  // in an earlier slice
};

}  // namespace drywell::sim
