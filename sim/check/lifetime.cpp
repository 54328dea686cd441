// Lifetimes of CTAs: peers of a cluster that may not have started or may be gone, and what is still under way when a CTA ends.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/check/monitor.h"

namespace drywell::sim::check {

// Whoever has heard of anything a warp of the CTA did knows that it runs.
void ClusterMonitor::visit_peer(uint32_t rank, AccessId id, const WarpClock& who) {
  const Access& now = accesses_[id];
  CtaState& peer = ctas_[rank];
  WarpState& self = ctas_[now.cta].warps[now.warp];
  if ((self.peers >> rank & 1) == 0) {
    const bool started = std::any_of(peer.warps.begin(), peer.warps.end(), [&](const WarpState& w) { return who.now.seen[w.clock.self] != 0; });
    if (!started) reporter_.report(Rule::peer_not_started, nullptr, now, [&] { return fmt::format("shared or tensor memory of CTA rank {}", rank); });
    self.peers |= static_cast<uint16_t>(started ? 1u << rank : 0);
  }
  if (is_plain(now.agent)) {
    peer.visitors[now.issuer] = id;
  } else if (peer.landings.empty() || peer.landings.back() != id) {
    peer.landings.push_back(id);
  }
}

bool ClusterMonitor::known_in(const CtaState& cta, const Access& a) const {
  const uint32_t end = is_plain(a.agent) ? a.issued_at : a.done_at;
  const Component c = is_plain(a.agent) ? a.issuer : a.done;
  return end != kInFlight && std::any_of(cta.warps.begin(), cta.warps.end(), [&](const WarpState& w) { return w.clock.now.seen[c] >= end; });
}

void ClusterMonitor::finish(const Cta& cta) {
  const CtaState& state = ctas_[cta.rank];
  const auto place = [&] { return fmt::format("shared memory of CTA rank {}", cta.rank); };
  for (const WarpState& w : state.warps) {
    for (const auto& [lane, q] : w.bulk) {
      for (AccessId id : q.reads) {
        const Access& a = accesses_[id];
        if (w.clock.now.seen[a.done] < a.done_at) reporter_.report(Rule::exit_while_reading, nullptr, a, place);
      }
    }
  }
  for (const auto& [issuer, id] : state.visitors) {
    if (!known_in(state, accesses_[id])) reporter_.report(Rule::peer_exited, nullptr, accesses_[id], place);
  }
  for (AccessId id : state.landings) {
    const Access& a = accesses_[id];
    if (known_in(state, a)) continue;
    const bool commit = launch_.program->code[a.pc].sync == isa::SyncRole::tensor_commit;
    reporter_.report(commit ? Rule::exit_before_commit : a.cta == cta.rank || a.write ? Rule::exit_before_landing : Rule::peer_exited, nullptr, a, place);
  }
  for (const Smem::Slot& s : cta.smem.mbarriers()) {
    const auto b = state.barriers.find(s.offset);
    if (!s.barrier.live || s.barrier.tx == 0 || b == state.barriers.end()) continue;
    Access who = accesses_[b->second.init];
    for (const LedgerEntry& e : b->second.ledger) {
      if (e.what != MbarrierEvent::expect_tx && e.what != MbarrierEvent::complete_tx) continue;
      who.pc = e.pc;
      who.cta = e.cta;
      who.warp = e.warp;
    }
    reporter_.report(Rule::bytes_left, nullptr, who, [&] {
      return fmt::format("mbarrier at {:#x} of CTA rank {}, phase {}: {} bytes expected, {} delivered", s.offset, cta.rank, b->second.phase - b->second.base, s.barrier.tx_expected, s.barrier.tx_completed);
    });
  }
  finish_convergence(cta);
  if (--running_ctas_ == 0) seal();
}

void ClusterMonitor::seal() {
  ctas_.clear();
  flights_.clear();
  flags_.clear();
}

}  // namespace drywell::sim::check
