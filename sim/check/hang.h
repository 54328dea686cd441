// Why a cluster makes no progress: each blocked warp, the barrier it waits for, that barrier's ledger, and the warps that have not arrived.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "drywell/sim/check.h"
#include "sim/check/mbarrier_ledger.h"
#include "sim/check/standing.h"
#include "sim/check/warps.h"

namespace drywell::sim::check {

class HangExplanation {
 public:
  HangExplanation(const Cluster& c, const MbarrierLedger& mbarriers, const AccessTable& accesses, const Warps& warps)
      : cluster_(c), mbarriers_(mbarriers), accesses_(accesses), warps_(warps) {}

  std::string text() const;
  /// The same as a graph.
  WaitGraph graph() const;

 private:
  std::string text_of(const Cta& cta, std::string& graph) const;
  static std::string without_cta(std::string text, const Cta& cta);
  std::string ledger_of(uint32_t address) const;
  std::string releasers(uint32_t address) const;
  std::string history_of(const Warp& w, const Standing& s) const;
  std::string stage_of(uint32_t address) const;
  std::string causes() const;
  bool nothing_completes(uint32_t address) const;
  std::string arrived_at(const BarrierState& b) const;
  std::string exited_before(const BarrierState& b, uint32_t rank) const;
  std::string lack_of(uint32_t address) const;
  std::string repeated_waits() const;
  std::string circle() const;
  using WarpNumbers = std::set<std::pair<uint16_t, uint16_t>>;  // rank, warp
  WarpNumbers late_by_neighbours(uint32_t address) const;
  static WarpNumbers late_at(const BarrierState& b);
  const Mbarrier* object(uint32_t address) const { return cluster_.ctas[shared_rank(address)]->smem.find_mbarrier(shared_offset(address)); }

  const Cluster& cluster_;
  const MbarrierLedger& mbarriers_;
  const AccessTable& accesses_;
  const Warps& warps_;
};

}  // namespace drywell::sim::check
