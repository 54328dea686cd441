#include "sim/check/far_flags.h"

#include <utility>

namespace drywell::sim::check {

// Limited by the scopes of both sides: .cta and .cluster do not reach another cluster. A relaxed store after a releasing fence is a
// release; a relaxed load is an acquire once an acquiring fence follows, and until then orders nothing.
void exchange_far(FarClock& place, uint64_t serial, WarpClock& clock, Ordering o, bool loads, bool stores) {
  if (loads) {
    clock.now.far.heard.join(place);
    if (o.far) (o.acquire ? clock.now : clock.heard).far.known.join(place);
  }
  if (!stores || !o.far || !(o.release || clock.fenced_far)) return;
  const Message& m = o.release ? clock.now : clock.fenced;
  std::vector<FarClock::Entry> own;
  for (Component c = 0; c < m.seen.size(); ++c) {
    if (m.seen[c] != 0) own.push_back({{serial, c}, m.seen[c]});
  }
  place.join(m.far.known);
  place.join(FarClock(std::move(own)));
}

}  // namespace drywell::sim::check
