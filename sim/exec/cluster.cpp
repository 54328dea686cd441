// Semantics of table/cluster.inc.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"
#include "sim/state/payload/cluster.h"

namespace drywell::sim {
namespace {

// All threads of the cluster that have not exited arrive once per instance (PTX ISA 9.7.13.3).
void complete_if_all_arrived(Cluster& c) {
  bool any = false;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) {
      if ((w.alive & ~w.cluster_arrived) != 0) return;
      any = any || w.cluster_arrived != 0;
    }
  }
  if (!any) return;
  for (auto& cta : c.ctas) {
    for (Warp& w : cta->warps) w.cluster_arrived = 0;
  }
  ++c.cluster_generation;
  c.cluster_ordered = c.next_op;
  c.wake_all();
}

// The barrier releases and acquires arrivals and stores into shared memory of the cluster: those that were issued before the barrier
// was complete are visible to a thread that has waited at it (PTX ISA 9.7.13.3).
bool ordered_work_in_flight(const Cluster& c) {
  return std::any_of(c.pending.begin(), c.pending.end(), [&](const AsyncOp& op) { return op.id < c.cluster_ordered && is_for_the_cluster(op); });
}

Effect cluster_arrive(Warp& w, const DecodedOp&, LaneMask mask) {
  if (const LaneMask twice = w.cluster_unwaited & mask; twice != 0)
    return fault(
        w, Code::F3504,
        fmt::format("barrier.cluster.arrive by lanes {:#010x}, which have not waited since they last arrived",
                    twice));
  w.cluster_arrived |= mask;
  w.cluster_unwaited |= mask;
  complete_if_all_arrived(*w.cta->cluster);
  return Effect::next;
}

Effect cluster_wait(Warp& w, const DecodedOp&, LaneMask mask) {
  if (const LaneMask early = mask & ~w.cluster_unwaited; early != 0)
    return fault(w, Code::F3505,
                 fmt::format("barrier.cluster.wait by lanes {:#010x}, which have not arrived", early));
  complete_if_all_arrived(*w.cta->cluster);  // threads that have exited since then need not arrive
  // Lanes that have arrived in the next instance may be here with lanes that have not left the last one.
  const LaneMask go = ordered_work_in_flight(*w.cta->cluster) ? 0 : mask & ~w.cluster_arrived;
  if (go == 0 && mask != 0) return block(w, BlockReason::cluster_barrier);
  w.cluster_unwaited &= ~go;
  if (go == mask) return Effect::next;
  run_groups(w, std::array{LaneGroup{w.pc + 1, go | (w.active & ~mask), w.frame, w.backward}, LaneGroup{w.pc, mask & ~go, w.frame, w.backward}});
  return Effect::jumped;
}

// The rank is in bits 24..31, of generic addresses too (docs/facts/tma-mbarrier.md §5). A rank that the cluster does not have is no
// fault: CuTe computes addresses for all lanes and uses those of the peers. An access there is one (F3502, F3501).
constexpr uint32_t kNoRank = 0xFF;

template <class L>
Effect map_address(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L* a = lanes<L>(w, op.src[0]);
  const uint32_t* rank = lanes<uint32_t>(w, op.src[1]);
  L r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    r[i] = (a[i] & ~L{~kSharedOffsetMask}) | L{cluster_address(std::min(rank[i], kNoRank), 0)};
  }
  store_masked(lanes<L>(w, op.dst), r, mask);
  return Effect::next;
}

template <class L>
Effect rank_of_address(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool generic = op.as<payload::RankOfAddress>().generic;
  const L* a = lanes<L>(w, op.src[0]);
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    if (sizeof(L) == 8 && generic && (mask >> i & 1) != 0 && !is_shared_generic(a[i]))
      return fault(w, Code::F3506,
                   fmt::format("getctarank of {:#x}, which is no address of shared memory", a[i]));
    r[i] = shared_rank(static_cast<uint32_t>(a[i]));
  }
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}

}  // namespace

template <>
ExecFn bind<isa::row::barrier_cluster_arrive>(Decoder& d, DecodedOp& op) {
  op.aligned = d.has(isa::Mod::aligned);
  return cluster_arrive;
}
template <>
ExecFn bind<isa::row::barrier_cluster_wait>(Decoder& d, DecodedOp& op) {
  op.aligned = d.has(isa::Mod::aligned);
  return cluster_wait;
}
template <>
ExecFn bind<isa::row::mapa>(Decoder& d, DecodedOp& op) {
  const bool wide = d.has(isa::Mod::u64);
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), wide ? 64 : 32);
  op.src[1] = d.source(*d.operand(2), 32);
  return wide ? map_address<uint64_t> : map_address<uint32_t>;
}
template <>
ExecFn bind<isa::row::getctarank>(Decoder& d, DecodedOp& op) {
  const bool wide = d.has(isa::Mod::u64);
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), wide ? 64 : 32);
  op.emplace<payload::RankOfAddress>({.generic = !d.has(isa::Mod::shared_cluster)});
  return wide ? rank_of_address<uint64_t> : rank_of_address<uint32_t>;
}
}  // namespace drywell::sim
