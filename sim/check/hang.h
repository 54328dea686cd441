// Why a cluster makes no progress: each blocked warp, the barrier it waits for, that barrier's ledger, and the warps that have not arrived.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  /// How sure it is that a barrier is the cause, and does not follow from another one.
  enum class Certainty : uint8_t {
    sure,
    likely,
    parity,  // possible, and the only one whose waits are for a free place and begin with parity 0
    possible
  };
  using SameLacks = std::vector<std::pair<std::string, std::vector<uint32_t>>>;  // without the CTA's number, and the ranks
  using Lacks = std::map<Certainty, SameLacks>;
  std::string causes() const;
  Lacks lacks() const;
  std::set<uint32_t> wrong_parities() const;
  void add_lack(uint32_t address, SameLacks& all) const;
  std::string lines_of(const SameLacks& all, Certainty c, bool follows) const;
  Certainty certainty_of(uint32_t address) const;
  bool others_live(uint32_t address) const;
  bool came_to_a_peer(uint32_t address) const;
  std::string bytes_of(uint32_t address) const;
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
