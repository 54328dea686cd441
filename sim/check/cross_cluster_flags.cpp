#include "sim/check/cross_cluster_flags.h"

#include <utility>

namespace drywell::sim::check {

// Limited by the scopes of both sides: .cta and .cluster do not reach another cluster. A relaxed store after a releasing fence is a
// release; a relaxed load is an acquire once an acquiring fence follows, and until then orders nothing.
void exchange_cross_cluster(CrossClusterClock& place, uint64_t serial, WarpClock& clock, Ordering o, bool loads, bool stores) {
  if (loads) {
    clock.now.cross_cluster.observed.join(place);
    if (o.cross_cluster) (o.acquire ? clock.now : clock.observed).cross_cluster.known.join(place);
  }
  if (!stores || !o.cross_cluster || !(o.release || clock.fenced_cross_cluster)) return;
  const Message& m = o.release ? clock.now : clock.fenced;
  std::vector<CrossClusterClock::Entry> own;
  for (Component c = 0; c < m.seen.size(); ++c) {
    if (m.seen[c] != 0) own.push_back({{serial, c}, m.seen[c]});
  }
  place.join(m.cross_cluster.known);
  place.join(CrossClusterClock(std::move(own)));
}

}  // namespace drywell::sim::check
