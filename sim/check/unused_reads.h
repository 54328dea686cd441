// Races of a read that nothing depends on: a warp loads memory that another warp changes, and stores nothing that it made of the value.
// Triton has them by design where a row that is changed in place has fewer elements than the CTA has threads: all warps load the row, and
// the first lanes store it.
#pragma once

#include <map>
#include <vector>

#include "sim/check/access.h"
#include "sim/check/launch_state.h"
#include "sim/check/reporter.h"
#include "sim/check/warps.h"

namespace drywell::sim::check {

class UnusedReads {
 public:
  UnusedReads(const LaunchState& launch, Warps& warps, const AccessTable& accesses, Reporter& reporter)
      : launch_(launch), warps_(warps), accesses_(accesses), reporter_(reporter) {}

  /// A race of global memory, at that address. True if its report waits for what the reading warp still does.
  bool hold(AccessId prior, AccessId now, uint64_t at);
  /// The warp stored by the instruction at `pc`: races that it has used the value of are reported.
  void stored(const Warp& w, uint32_t pc);
  /// The cluster has ended: the races that are left are notes.
  void finish();

 private:
  using WarpKey = std::pair<uint16_t, uint16_t>;  // rank, warp
  struct Held {
    AccessId prior, now;
    uint64_t at;
    const LoadUse* use;
  };
  void report(Rule rule, const Held& h) const;
  bool has_stored(WarpKey warp, const LoadUse& use);

  const LaunchState& launch_;
  Warps& warps_;
  const AccessTable& accesses_;
  Reporter& reporter_;
  std::map<WarpKey, std::vector<Held>> held_;  // by the warp that read
};

}  // namespace drywell::sim::check
