// The missing part of the order between two accesses of a finding: how far the later one's thread has synchronised with the earlier one.
#include <fmt/format.h>

#include "sim/check/cluster_parts.h"
#include "sim/check/place_words.h"

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

}  // namespace

std::string describe_order(const ClusterParts& m, Rule, const Access& prior, const Access& now) {
  if (m.warps.over() || prior.cluster != now.cluster) return {};
  const Clock& seen = m.warps.of_cta(now.cta)[now.warp].clock.now.seen;
  if (is_plain(prior.agent)) return seen[prior.issuer] >= prior.issued_at ? "" : of_thread(m, prior, now, seen[prior.issuer]);
  if (prior.done_at == kInFlight) return "nothing has signalled the end of the first, and so no wait can have";
  if (seen[prior.done] >= prior.done_at) return {};
  if (const auto b = m.mbarriers.counted_by(prior.done); b.has_value()) return of_phase(m, *b, prior, now, seen[prior.done]);
  if (seen[prior.issuer] < prior.issued_at) return of_thread(m, prior, now, seen[prior.issuer]);
  return fmt::format("{} knows that the first was issued; no wait of {} for its end happens before", name_of(m, now), name_of(m, prior));
}

}  // namespace drywell::sim::check
