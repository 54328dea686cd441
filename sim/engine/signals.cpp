#include "sim/engine/signals.h"

#include <fmt/format.h>

namespace drywell::sim {
namespace {

// The CTA whose mbarrier is signalled for data written to CTA d. With cta_group::2 it is the CTA of d's pair whose rank has
// the parity of the mbarrier operand's CTA.
uint32_t signalled_cta(const LoadTarget& t, uint32_t d) {
  if (t.multicast == 0) return shared_rank(t.mbar);
  return t.cta_group == 2 ? (d & ~1u) | (shared_rank(t.mbar) & 1u) : d;
}

}  // namespace

EngineResult check_target(const Cluster& c, const LoadTarget& t) {
  for (uint32_t d = 0; d < 32; ++d) {
    if ((t.ctas() >> d & 1) == 0) continue;
    const uint32_t last = std::max(d, signalled_cta(t, d));
    if (last >= c.ctas.size())
      return GuestError{Code::F3503, fmt::format("copy to CTA rank {} of a cluster of {}", last, c.ctas.size())};
  }
  const uint32_t owner = shared_rank(t.mbar), landing = shared_rank(t.smem);
  const bool pair = t.cta_group == 2 && (owner ^ landing) == 1;
  if (t.multicast == 0 && owner != landing && !pair) {
    return GuestError{Code::F3309, fmt::format("the copy lands in CTA rank {}, its mbarrier is in rank {}: it "
                                               "must be in the same CTA, or with .cta_group::2 in its pair",
                                               landing, owner)};
  }
  return std::nullopt;
}

EngineResult signal_target(Cluster& c, const LoadTarget& t, uint32_t bytes) {
  for (uint32_t d = 0; d < kMaxClusterCtas; ++d) {
    if ((t.ctas() >> d & 1) == 0) continue;
    const uint32_t mbar = cluster_address(signalled_cta(t, d), shared_offset(t.mbar));
    if (auto e = apply_mbarrier(c, mbar, MbarrierOp::complete_tx, bytes); e.has_value()) return e;
  }
  return std::nullopt;
}

}  // namespace drywell::sim
