#include "sim/check/own_address.h"

#include <fmt/format.h>

#include "sim/exec/exec.h"

namespace drywell::sim::check {

// 32-bit addresses of shared memory have the CTA's rank in bits 24 and up, those of the own CTA too (docs/facts/tma-mbarrier.md §5).
void check_own_address(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Agent agent, bool write) {
  if (parts.cluster.ctas.size() == 1) return;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t rank = shared_rank(static_cast<uint32_t>(a));
    if (is_shared_generic(a) || rank == w.cta->rank || rank >= parts.cluster.ctas.size()) return;
    parts.reporter.report(Rule::peer_address, nullptr, parts.access(w, op, mask, agent, write),
                          [&] { return fmt::format("address {:#x}: offset {:#x} of CTA rank {}, used by CTA rank {}", a, shared_offset(static_cast<uint32_t>(a)), rank, w.cta->rank); });
  });
}

}  // namespace drywell::sim::check
