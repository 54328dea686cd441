// How the timed driver notices that all clusters wait for ever although their warps run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "drywell/sim/fault.h"
#include "sim/state/cta.h"

namespace drywell::sim {

class TimedWait {
 public:
  using Clusters = std::vector<Cluster*>;

  /// Called between windows. `moved` grows with each instruction outside of loops that only wait (sim/exec/closed_waits.h), and with each event. `live`: the clusters that
  /// have not ended. True if for long there was neither, and each loop has gone round until all that it computes comes from what it read.
  bool proven(Time now, uint64_t moved, const std::function<Clusters()>& live);
  Fault fault(const Clusters& live) const;

 private:
  bool begin(const Clusters& live);
  bool add(const Warp& w, const Program& p);
  bool all_have_gone_round() const;

  uint64_t moved_ = 0;
  Time since_ = 0;
  bool begun_ = false;
  std::map<const Warp*, uint64_t> until_;  // how many instructions each warp in such a loop has to execute, from its start on
};

}  // namespace drywell::sim
