#include "sim/check/warps.h"

namespace drywell::sim::check {

Warps::Warps(const Cluster& c, const LaunchState& launch, Components& components) : cluster_(c), launch_(launch), own_(c.index + 1) {
  ctas_.reserve(c.ctas.size());
  for (const auto& cta : c.ctas) {
    running_.push_back(components.next());
    for (WarpState& w : ctas_.emplace_back(cta->warps.size())) {
      w.clock.self = components.next();
      components.next();  // self + 1
      w.clock.now.seen.raise(w.clock.self, 1);
      w.clock.now.wide.raise(w.clock.self, 1);
      // A relaxed arrival shows that the CTA runs, although it releases nothing.
      for (Message* m : {&w.clock.now, &w.clock.fenced}) m->seen.raise(running_.back(), 1);
    }
  }
}

Access Warps::access(const Warp& w, uint32_t pc, LaneMask lanes, Agent agent, bool write) {
  WarpState& state = of(w);
  const WarpClock& clock = state.clock;
  Access a;
  a.agent = agent;
  a.write = write;
  a.cta = static_cast<uint16_t>(w.cta->rank);
  a.warp = static_cast<uint16_t>(w.index);
  a.lanes = lanes;
  a.pc = pc;
  a.done = a.issuer = clock.self;
  a.done_at = a.issued_at = clock.time();
  a.cluster = own_.serial();
  a.when = cluster_.now;
  a.index = w.cta->index;
  if (launch_.follows_cross_cluster()) a.cross_cluster = state.cross_cluster = cross_cluster_.number(clock.now.cross_cluster, state.cross_cluster);
  return a;
}

}  // namespace drywell::sim::check
