// Scale factors: whether products that differ take different ones.
#include <fmt/format.h>

#include "sim/check/monitor.h"

namespace drywell::sim::check {
namespace {

// Bytes `id` and on of each word (PTX ISA 9.7.16.4.2): A's in bits 29..30 of the instruction descriptor, B's in 4..5.
uint32_t ids_of(const Umma& u) { return u.idesc & (3u << 29 | 3u << 4); }

}  // namespace

// One factor covers at least the K of one product: the next product of the same accumulator has its own, unless whoever made the
// factors let one cover more.
void ClusterMonitor::follow_scales(const Umma& u, const Access& who) {
  ScaleUse& last = ctas_[who.cta].scales;
  const ScaleUse now{true, u.d, u.a, u.b, u.sfa, u.sfb, ids_of(u)};
  const bool again = last.valid && u.accumulate && last.d == now.d && last.sfa == now.sfa && last.sfb == now.sfb && last.ids == now.ids;
  if (again && last.a != now.a && last.b != now.b) {
    reporter_.report(Rule::scales_again, nullptr, who, [&] {
      return fmt::format("scale factors at columns {} and {}, ids {} and {}", TmemAddr(u.sfa).column(), TmemAddr(u.sfb).column(), u.idesc >> 29 & 3, u.idesc >> 4 & 3);
    });
  }
  last = now;
}

}  // namespace drywell::sim::check
