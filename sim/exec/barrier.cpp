// Semantics of table/barrier.inc: named barriers and fences.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"

namespace drywell::sim {
namespace {

Effect check_count(Warp& w, uint32_t id, uint32_t count) {
  if (id >= 16) return fault(w, "F3402", fmt::format("named barrier {}; there are 16", id));
  if (count == 0 || count % kWarpSize != 0 || count > w.cta->warps.size() * kWarpSize) {
    return fault(w, "F3403", fmt::format("named barrier {} with {} threads: a multiple of 32, at most the CTA's {}", id, count, w.cta->warps.size() * kWarpSize));
  }
  const NamedBarrier& b = w.cta->barriers[id];
  if (b.expected != 0 && b.expected != count) {
    return fault(w, "F3404", fmt::format("named barrier {}: this warp says {} threads, others in the same instance said {}", id, count, b.expected));
  }
  if (b.expected != 0 && (b.arrived_warps >> (w.index & 63) & 1) != 0) {
    return fault(w, "F3405", fmt::format("named barrier {}: warp {} arrives twice in one instance", id, w.index));
  }
  return Effect::next;
}

// A warp counts as 32 threads (PTX ISA 9.7.13.1: barriers work per warp).
void arrive(Warp& w, uint32_t id, uint32_t count) {
  NamedBarrier& b = w.cta->barriers[id];
  b.expected = count;
  b.arrived += kWarpSize;
  b.arrived_warps |= uint64_t{1} << (w.index & 63);
  if (b.arrived >= count) {
    b.expected = b.arrived = 0;
    b.arrived_warps = 0;
    ++b.generation;
    w.cta->cluster->wake(*w.cta);
  }
}

// src[0] id, src[1] count (bank 2: absent, all threads).
uint32_t operand_of(const Warp& w, Src s, LaneMask mask, uint32_t absent) {
  return s.bank == 2 ? absent : lanes<uint32_t>(w, s)[std::countr_zero(mask)];
}

Effect bar_sync(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t id = operand_of(w, op.src[0], mask, 0);
  const uint32_t count = operand_of(w, op.src[1], mask, static_cast<uint32_t>(w.cta->warps.size()) * kWarpSize);
  if (w.barrier_wait) {
    if (w.cta->barriers[id].generation == w.barrier_generation) return block(w, BlockReason::named_barrier, id);
    w.barrier_wait = false;
    return Effect::next;
  }
  if (const Effect e = check_count(w, id, count); e != Effect::next) return e;
  const uint64_t generation = w.cta->barriers[id].generation;
  arrive(w, id, count);
  if (w.cta->barriers[id].generation != generation) return Effect::next;
  w.barrier_wait = true;
  w.barrier_generation = generation;
  return block(w, BlockReason::named_barrier, id);
}

Effect bar_arrive(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t id = operand_of(w, op.src[0], mask, 0), count = operand_of(w, op.src[1], mask, 0);
  if (const Effect e = check_count(w, id, count); e != Effect::next) return e;
  arrive(w, id, count);
  return Effect::next;
}

Effect warp_sync(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t members = lanes<uint32_t>(w, op.src[0])[std::countr_zero(mask)];
  if ((mask & ~members) != 0) return fault(w, "F3401", fmt::format("bar.warp.sync by lanes {:#010x} outside its mask {:#010x}", mask & ~members, members));
  const LaneMask expected = members & w.alive;
  if ((expected & ~mask) == 0) return Effect::next;
  // Lanes may stand at different bar.warp.sync instructions with the same mask.
  const auto same = std::find_if(w.warp_syncs.begin(), w.warp_syncs.end(), [&](const WarpSync& s) { return s.members == members; });
  WarpSync& s = same != w.warp_syncs.end() ? *same : w.warp_syncs.emplace_back(WarpSync{members, 0, 0});
  if (const LaneMask go = s.released & mask; go != 0) {
    s.released &= ~go;
    if (go == mask) return Effect::next;
    // Those that met here are in the next instance already.
    run_groups(w, std::array{LaneGroup{w.pc + 1, go | (w.active & ~mask), w.frame, w.backward}, LaneGroup{w.pc, mask & ~go, w.frame, w.backward}});
    return Effect::jumped;
  }
  s.arrived |= mask;
  if ((expected & ~s.arrived) != 0) return block(w, BlockReason::warp_sync);
  s.released = s.arrived & ~mask;
  s.arrived = 0;
  return Effect::next;
}

// Memory is sequentially consistent here; fences matter to checkers, which see them as instructions.
Effect fence(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

}  // namespace

template <> ExecFn bind<isa::Opcode::bar_sync>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  op.src[1] = d.operand(1) != nullptr ? d.source(*d.operand(1), 32) : Src{0, 2};
  return bar_sync;
}
template <> ExecFn bind<isa::Opcode::bar_arrive>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  op.src[1] = d.source(*d.operand(1), 32);
  return bar_arrive;
}
template <> ExecFn bind<isa::Opcode::bar_warp_sync>(Decoder& d, DecodedOp& op) { op.src[0] = d.source(*d.operand(0), 32); return warp_sync; }
template <> ExecFn bind<isa::Opcode::fence>(Decoder&, DecodedOp&) { return fence; }
template <> ExecFn bind<isa::Opcode::fence_mbarrier_init>(Decoder&, DecodedOp&) { return fence; }
template <> ExecFn bind<isa::Opcode::fence_proxy_async>(Decoder&, DecodedOp&) { return fence; }

}  // namespace drywell::sim
