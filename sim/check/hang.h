// Why a cluster makes no progress: each blocked warp, the barrier it waits for, that barrier's ledger, and the warps that have not arrived.
#pragma once

#include <string>

#include "drywell/sim/check.h"
#include "sim/check/mbarrier_ledger.h"

namespace drywell::sim::check {

class HangExplanation {
 public:
  HangExplanation(const Cluster& c, const MbarrierLedger& mbarriers, const AccessTable& accesses) : cluster_(c), mbarriers_(mbarriers), accesses_(accesses) {}

  std::string text() const;
  /// The same as a graph.
  WaitGraph graph() const;

 private:
  std::string ledger_of(uint32_t address) const;
  std::string releasers(uint32_t address) const;
  const Mbarrier* object(uint32_t address) const { return cluster_.ctas[shared_rank(address)]->smem.find_mbarrier(shared_offset(address)); }

  const Cluster& cluster_;
  const MbarrierLedger& mbarriers_;
  const AccessTable& accesses_;
};

}  // namespace drywell::sim::check
