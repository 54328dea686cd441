#include "sim/check/cross_cluster_flags.h"

namespace drywell::sim::check {

// Limited by the scopes of both sides: .cta and .cluster do not reach another cluster. A relaxed store after a releasing fence is a
// release; a relaxed load is an acquire once an acquiring fence follows, and until then orders nothing. The fences of the tensormap proxy
// release and acquire by themselves (PTX ISA 9.7.13.4): for maps a relaxed store and a relaxed load are enough between the two.
void exchange_cross_cluster(CrossClusterFlag& place, OwnClocks& own, WarpClock& clock, Ordering o, bool loads, bool stores) {
  if (loads) {
    clock.now.cross_cluster.observed.join(place.released);
    clock.now.cross_cluster.fenced.join(place.fenced);
    clock.now.cross_cluster.proxy.join(place.proxy);
    clock.now.cross_cluster.maps_released.join(place.maps);
    if (o.cross_cluster) (o.acquire ? clock.now : clock.observed).cross_cluster.known.join(place.released);
  }
  if (!stores || !o.cross_cluster) return;
  place.fenced.grow(own.of(clock.now.fenced_gpu));
  place.maps.grow(clock.now.cross_cluster.maps_released);
  place.maps.grow(own.of(clock.now.map_released));
  if (!o.release && !clock.fenced_cross_cluster) return;
  const Message& m = o.release ? clock.now : clock.fenced;
  place.fenced.grow(m.cross_cluster.fenced);  // what a count has brought goes on with the flag that the last one of a barrier stores
  place.released.grow(m.cross_cluster.known);
  place.released.grow(own.of(m.seen));
  place.proxy.grow(clock.now.cross_cluster.proxy);
  place.proxy.grow(own.of(clock.now.proxy_global));
}

}  // namespace drywell::sim::check
