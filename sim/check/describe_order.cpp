// The missing part of the order between two accesses of a finding: how far the later one's thread has synchronised with the earlier one.
#include <fmt/format.h>

#include "sim/check/cluster_parts.h"
#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {
namespace {

std::string name_of(const ClusterParts& m, const Access& a) { return warp_name(m.cluster, a.cta, a.warp); }

// The mbarrier that signals the end, its phase, and the last phase that the later thread has seen complete.
std::string of_phase(const ClusterParts& m, const MbarrierLedger::Counted& b, const Access& prior, const Access& now, uint32_t seen) {
  const uint32_t phase = prior.done_at - 1 - b.base;
  const std::string name = fmt::format("the mbarrier at {:#x} of CTA rank {}", shared_offset(b.address), shared_rank(b.address));
  const std::string end = fmt::format("the first ends with phase {} of {}; {}", phase, name, name_of(m, now));
  if (seen <= b.base) return end + " has waited for none of its phases, and no thread that has is ordered before it";
  return end + fmt::format(" knows its phases up to {} only", seen - 1 - b.base);
}

std::string of_thread(const ClusterParts& m, const Access& prior, const Access& now, uint32_t seen) {
  if (prior.issuer == now.issuer) return "one thread issued both, in this order; issue alone does not order them";
  const std::string pair = fmt::format("from {} to {}", name_of(m, prior), name_of(m, now));
  return seen == 0 ? fmt::format("no barrier, and no release and acquire, leads {}", pair)
                   : fmt::format("the last synchronisation {} was before the first access; none follows it", pair);
}

// The queue of its warp that the operation is in; null: none that has groups.
const OperationQueue* queue_of(const WarpState& w, const Access& a) {
  for (const OperationQueue* q : {&w.copies, &w.products})
    if (q->done == a.done) return q;
  for (const auto& [lane, q] : w.bulk)
    if (q.done == a.done || q.read == a.done) return &q;
  return nullptr;
}

// Why the waits for groups that are there do not show the end of the first.
std::string shortfall(const ClusterParts& m, const Access& prior) {
  const OperationQueue* const q = queue_of(m.warps.of_cta(prior.cta)[prior.warp], prior);
  if (q == nullptr) return {};
  if (!q->in_a_group(prior.done_at)) return ": it is in no group yet, because no commit_group follows it";
  if (!q->waited.has_value()) return {};
  const GuestPlace at = place_of(m.cluster.ctas[prior.cta]->warps[prior.warp], q->waited->pc, 0);
  const bool before = q->waited->issued < prior.done_at;
  return fmt::format(": the last one, '{}'{}, {}", at.ptx, source_of(at), before ? "came before it was issued" : "lets it go on");
}

bool is_of_proxies(Rule r) { return r == Rule::proxy_write_to_async_read || r == Rule::proxy_write_to_async_write || r == Rule::proxy_global; }

// The accesses are in order; a fence covers what happens before it.
std::string of_fences(const Clock& covered, const Access& prior) {
  return covered[prior.done] == 0 ? "in order, but no fence.proxy.async comes behind the first access and before the second"
                                  : "in order, but the last fence.proxy.async on the way was before the first access";
}

}  // namespace

std::string describe_order(const ClusterParts& m, Rule rule, const Access& prior, const Access& now) {
  if (m.warps.over() || prior.cluster != now.cluster) return {};
  const Message& known = m.warps.of_cta(now.cta)[now.warp].clock.now;
  if (is_of_proxies(rule)) return of_fences(rule == Rule::proxy_global ? known.proxy_global : known.proxy_shared, prior);
  if (rule == Rule::scope_too_narrow && known.seen[prior.done] >= prior.done_at) return "in order, but a release or an acquire on the way is of .cta scope, which is also that of mbarrier instructions without one";
  const Clock& seen = known.seen;
  if (is_plain(prior.agent)) return seen[prior.issuer] >= prior.issued_at ? "" : of_thread(m, prior, now, seen[prior.issuer]);
  if (prior.done_at == kInFlight) return "nothing has signalled the end of the first, and so no wait can have";
  if (seen[prior.done] >= prior.done_at) return {};
  if (const auto b = m.mbarriers.counted_by(prior.done); b.has_value()) return of_phase(m, *b, prior, now, seen[prior.done]);
  if (seen[prior.issuer] < prior.issued_at) return of_thread(m, prior, now, seen[prior.issuer]);
  return fmt::format("{} knows that the first was issued; no wait of {} for its end happens before{}", name_of(m, now), name_of(m, prior), shortfall(m, prior));
}

}  // namespace drywell::sim::check
