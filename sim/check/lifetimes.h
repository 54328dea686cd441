// Lifetimes of CTAs: peers of a cluster that may not have started or may have ended, and operations in flight when a CTA ends.
#pragma once

#include <map>
#include <vector>

#include "sim/check/reporter.h"
#include "sim/check/warps.h"

namespace drywell::sim::check {

class Lifetimes {
 public:
  Lifetimes(const Warps& warps, const AccessTable& accesses, Reporter& reporter);

  /// A warp with the clock `who` accesses memory of the CTA, a peer of its own.
  void visit(uint32_t rank, AccessId id, const WarpClock& who);
  /// An asynchronous operation will access the CTA's memory.
  void land(uint32_t rank, AccessId id) { ctas_[rank].landings.push_back(id); }
  /// The CTA has ended: reports operations that it did not wait for.
  void finish(uint32_t rank, const Program& program) const;
  void clear() { ctas_.clear(); }

 private:
  struct CtaVisits {
    std::map<Component, AccessId> visitors;  // latest ordinary access of each peer's warp
    std::vector<AccessId> landings;          // asynchronous operations on its memory, copies of its own and every operation of peers
    std::vector<uint16_t> started;           // by warp: ranks whose start happens before the warp's present
  };
  bool known_in(uint32_t rank, const Access& a) const;
  bool knows_issue(uint32_t rank, const Access& a) const;
  Rule rule_of_commit(uint32_t rank, const Access& a) const;

  const Warps& warps_;
  const AccessTable& accesses_;
  Reporter& reporter_;
  std::vector<CtaVisits> ctas_;
};

}  // namespace drywell::sim::check
