#include "sim/check/lifetimes.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::sim::check {

Lifetimes::Lifetimes(const Warps& warps, const AccessTable& accesses, Reporter& reporter) : warps_(warps), accesses_(accesses), reporter_(reporter), ctas_(warps.ctas()) {
  for (uint32_t rank = 0; rank < ctas_.size(); ++rank) ctas_[rank].started.resize(warps.of_cta(rank).size());
}

void Lifetimes::visit(uint32_t rank, AccessId id, const WarpClock& who) {
  const Access& now = accesses_[id];
  uint16_t& started = ctas_[now.cta].started[now.warp];
  if ((started >> rank & 1) == 0) {
    const bool observed = warps_.knows_running(who.now.seen, rank);
    if (!observed) reporter_.report(Rule::peer_not_started, nullptr, now, [&] { return fmt::format("shared or tensor memory of CTA rank {}", rank); });
    started |= static_cast<uint16_t>(observed ? 1u << rank : 0);
  }
  CtaVisits& peer = ctas_[rank];
  if (is_plain(now.agent)) {
    peer.visitors[now.issuer] = id;
  } else if (peer.landings.empty() || peer.landings.back() != id) {
    peer.landings.push_back(id);
  }
}

// Some thread of the CTA comes behind the issue; a relaxed cluster barrier is enough.
bool Lifetimes::knows_issue(uint32_t rank, const Access& a) const {
  const auto warps = warps_.of_cta(rank);
  return std::any_of(warps.begin(), warps.end(), [&](const WarpState& w) { return std::max(w.clock.now.seen[a.issuer], w.clock.now.executed[a.issuer]) >= a.issued_at; });
}

// The tensor core's arrival comes after its commit; a CTA that does not even know of a peer's commit may be gone by then.
Rule Lifetimes::rule_of_commit(uint32_t rank, const Access& a) const { return a.cta != rank && !knows_issue(rank, a) ? Rule::peer_exited : Rule::exit_before_commit; }

// An arrival is performed if its phase is complete, or if it happens before a step of the CTA; a relaxed cluster barrier behind it is enough
// on today's hardware, and kernels end with one. What has been seen complete by a relaxed wait is complete.
bool Lifetimes::known_in(uint32_t rank, const Access& a) const {
  const bool issue = is_plain(a.agent) || a.agent == Agent::arrival, end = !is_plain(a.agent) && a.done_at != kInFlight;
  const auto warps = warps_.of_cta(rank);
  return std::any_of(warps.begin(), warps.end(), [&](const WarpState& w) {
    const Clock& seen = w.clock.now.seen;
    const bool ran = a.agent == Agent::arrival && w.clock.now.executed[a.issuer] >= a.issued_at;
    return ran || (issue && seen[a.issuer] >= a.issued_at) || (end && std::max(seen[a.done], w.clock.observed.seen[a.done]) >= a.done_at);
  });
}

void Lifetimes::finish(uint32_t rank, const Program& program) const {
  const auto place = [&] { return fmt::format("shared memory of CTA rank {}", rank); };
  for (const WarpState& w : warps_.of_cta(rank)) {
    for (const auto& [lane, q] : w.bulk) q.each_unread(w.clock.now.seen, [&](AccessId id) { reporter_.report(Rule::exit_while_reading, nullptr, accesses_[id], place); });
  }
  for (const auto& [issuer, id] : ctas_[rank].visitors) {
    if (!known_in(rank, accesses_[id])) reporter_.report(Rule::peer_exited, nullptr, accesses_[id], place);
  }
  for (AccessId id : ctas_[rank].landings) {
    const Access& a = accesses_[id];
    if (known_in(rank, a)) continue;
    const bool commit = program.code[a.pc].sync == isa::SyncRole::tensor_commit;
    reporter_.report(commit ? rule_of_commit(rank, a) : a.cta == rank || a.write ? Rule::exit_before_landing
                                                                                 : Rule::peer_exited,
                     nullptr, a, place);
  }
}

}  // namespace drywell::sim::check
