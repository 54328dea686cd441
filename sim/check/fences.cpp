#include "sim/check/fences.h"

namespace drywell::sim::check {

using isa::Mod;

namespace {

void release(WarpClock& c) {
  c.fenced = c.release();
  c.tick();
}

void acquire(WarpClock& c, LaneMask lanes) {
  c.learn(lanes, c.observed.seen);
  c.acquire(c.observed);
  c.observed = {};
}

// A relaxed read of a flag counts, too: what its missing acquire means is the subject of H7406.
void cover_global(WarpClock& c) {
  c.now.proxy_global.join(c.now.seen);
  c.now.cross_cluster.proxy.join(c.now.cross_cluster.known);
  c.now.cross_cluster.proxy.join(c.now.cross_cluster.observed);
  c.now.cross_cluster.proxy.join(c.now.cross_cluster.fenced);
}

}  // namespace

void Fences::threads(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpClock& c = parts_.state_of(w).clock;
  const isa::Instruction& i = parts_.launch.program->instruction(op);
  const Ordering o = parts_.launch.ordering(op);
  if (!o.cross_cluster) c.observed.cross_cluster.clear();
  if (!i.has(Mod::release)) acquire(c, mask);
  if (!i.has(Mod::acquire)) release(c);
  if (!o.wide) c.fenced.wide.clear();
  if (i.has(Mod::acquire)) return;
  c.fenced_cross_cluster = o.cross_cluster;
  if (o.cross_cluster && parts_.launch.follows_cross_cluster()) c.now.fenced_gpu.join(c.now.seen);
}

void Fences::mbarrier_init(const Warp& w, const DecodedOp&, LaneMask) { parts_.state_of(w).clock.fence_inits(); }

void Fences::async_proxy(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpClock& c = parts_.state_of(w).clock;
  const isa::Instruction& i = parts_.launch.program->instruction(op);
  if (!i.has(Mod::global)) c.now.proxy_shared.join(c.now.seen);
  if (i.mod(isa::Slot::space) == Mod::none || i.has(Mod::global)) cover_global(c);
  c.tick();
}

void Fences::async_generic(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpClock& c = parts_.state_of(w).clock;
  const isa::Instruction& i = parts_.launch.program->instruction(op);
  if (i.has(Mod::acquire)) acquire(c, mask);
  c.now.proxy_shared.join(c.now.seen);
  if (i.has(Mod::release)) release(c);
}

void Fences::tensor_before(const Warp& w, const DecodedOp&, LaneMask) {
  WarpClock& c = parts_.state_of(w).clock;
  c.tensor_released.join(c.now.tensor);
  c.tensor_released.raise(c.self, c.time());
  c.tick();
}

void Fences::tensor_after(const Warp& w, const DecodedOp&, LaneMask) {
  WarpClock& c = parts_.state_of(w).clock;
  c.now.tensor.join(c.tensor_observed);
}

}  // namespace drywell::sim::check
