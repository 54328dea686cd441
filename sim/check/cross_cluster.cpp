// Clusters that order each other through global memory: what one released into a place, another acquires from it (PTX ISA 8.8).
#include "sim/check/monitor.h"

namespace drywell::sim::check {

// Bounded by the scopes of both sides: .cta and .cluster do not reach another cluster. A relaxed store behind a releasing fence is a
// release; a relaxed load is an acquire once an acquiring fence follows, and until then hearsay.
void ClusterMonitor::far_flags(WarpState& w, Ordering o, uint64_t place, bool loads, bool stores) {
  FarClock& flag = launch_.far_flags[place];
  if (loads) {
    w.clock.now.far.heard.join(flag);
    if (o.far) (o.acquire ? w.clock.now : w.clock.heard).far.known.join(flag);
  }
  if (!stores || !o.far || !(o.release || w.clock.fenced_far)) return;
  const Message& m = o.release ? w.clock.now : w.clock.fenced;
  std::vector<FarClock::Entry> own;
  for (Component c = 0; c < m.seen.size(); ++c) {
    if (m.seen[c] != 0) own.push_back({{serial_, c}, m.seen[c]});
  }
  flag.join(m.far.known);
  flag.join(FarClock(std::move(own)));
}

uint32_t ClusterMonitor::far_of(WarpState& w) {
  const Far& now = w.clock.now.far;
  if (!now.same(fars_[w.far])) {
    w.far = static_cast<uint32_t>(fars_.size());
    fars_.push_back(now);
  }
  return w.far;
}

}  // namespace drywell::sim::check
