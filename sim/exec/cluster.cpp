// Semantics of table/cluster.inc.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"

namespace drywell::sim {
namespace {

uint32_t live_threads(const Cluster& c) {
  uint32_t n = 0;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) n += static_cast<uint32_t>(std::popcount(w.alive));
  }
  return n;
}

// All threads of the cluster that have not exited arrive once per instance (PTX ISA 9.7.13.3).
Effect cluster_arrive(Warp& w, const DecodedOp&, LaneMask mask) {
  Cluster& c = *w.cta->cluster;
  w.cluster_generation = c.cluster_generation;
  c.cluster_arrived += static_cast<uint32_t>(std::popcount(mask));
  if (c.cluster_arrived >= live_threads(c)) {
    c.cluster_arrived = 0;
    ++c.cluster_generation;
    c.wake_all();
  }
  return Effect::next;
}

Effect cluster_wait(Warp& w, const DecodedOp&, LaneMask) {
  Cluster& c = *w.cta->cluster;
  if (c.cluster_generation != w.cluster_generation) return Effect::next;
  // Threads that exited meanwhile no longer have to arrive.
  if (c.cluster_arrived != 0 && c.cluster_arrived >= live_threads(c)) {
    c.cluster_arrived = 0;
    ++c.cluster_generation;
    c.wake_all();
    return Effect::next;
  }
  return block(w, BlockReason::cluster_barrier);
}

template <class L>
Effect map_address(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L* a = lanes<L>(w, op.src[0]);
  const uint32_t* rank = lanes<uint32_t>(w, op.src[1]);
  const uint32_t size = static_cast<uint32_t>(w.cta->cluster->ctas.size());
  L r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    if ((mask >> i & 1) != 0 && rank[i] >= size) return fault(w, "F3502", fmt::format("mapa to CTA rank {} of a cluster of {}", rank[i], size));
    r[i] = (a[i] & ~L{0xFF000000u}) | (L{rank[i]} << 24);
  }
  store_masked(lanes<L>(w, op.dst), r, mask);
  return Effect::next;
}

}  // namespace

template <> ExecFn bind<isa::Opcode::barrier_cluster_arrive>(Decoder& d, DecodedOp& op) { op.aligned = d.has(isa::Mod::aligned); return cluster_arrive; }
template <> ExecFn bind<isa::Opcode::barrier_cluster_wait>(Decoder& d, DecodedOp& op) { op.aligned = d.has(isa::Mod::aligned); return cluster_wait; }
template <> ExecFn bind<isa::Opcode::mapa>(Decoder& d, DecodedOp& op) {
  const bool wide = d.has(isa::Mod::u64);
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), wide ? 64 : 32);
  op.src[1] = d.source(*d.operand(2), 32);
  return wide ? map_address<uint64_t> : map_address<uint32_t>;
}

}  // namespace drywell::sim
