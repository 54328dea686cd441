// Semantics of table/barrier.inc: named barriers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "drywell/isa/opcode.h"
#include "sim/events/hub.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"
#include "sim/exec/member_mask.h"
#include "sim/state/payload/barrier.h"

namespace drywell::sim {
namespace {

Effect check_count(Warp& w, uint32_t id, uint32_t count) {
  if (id >= 16) return fault(w, Code::F3402, fmt::format("named barrier {}; there are 16", id));
  if (count == 0 || count % kWarpSize != 0 || count > w.cta->warps.size() * kWarpSize) {
    return fault(w, Code::F3403, fmt::format("named barrier {} with {} threads: a multiple of 32, at most the CTA's {}", id, count, w.cta->warps.size() * kWarpSize));
  }
  const NamedBarrier& b = w.cta->barriers[id];
  if (b.expected != 0 && b.expected != count) {
    return fault(w, Code::F3404, fmt::format("named barrier {}: this warp says {} threads, others in the same instance said {}", id, count, b.expected));
  }
  return Effect::next;
}

void complete(Cta& cta, NamedBarrier& b) {
  b.expected = b.arrived = 0;
  b.arrived_warps = 0;
  b.last_count = b.reduce_count;
  b.last_and = b.reduce_and;
  b.last_or = b.reduce_or;
  b.reduce_count = 0;
  b.reduce_and = true;
  b.reduce_or = false;
  ++b.generation;
  cta.cluster->wake(cta);
}

void announce(const Warp& w, uint32_t id) {
  if (auto* o = w.cta->cluster->launch->observers; o != nullptr) o->named_barrier(w, id, w.cta->barriers[id]);
}

// A warp counts as 32 threads (PTX ISA 9.7.13.1: barriers work per warp), and again if it arrives twice in one instance: the
// barrier only counts. FlashAttention 3's first warpgroup gives itself its first turn so (measured on an H200: docs/deviations.md).
void arrive(Warp& w, uint32_t id, uint32_t count, bool whole_cta) {
  NamedBarrier& b = w.cta->barriers[id];
  b.whole_cta = whole_cta && (b.expected == 0 || b.whole_cta);
  b.expected = count;
  b.arrived += kWarpSize;
  b.arrived_warps |= uint64_t{1} << (w.index & 63);
  if (everyone_arrived(*w.cta, b)) complete(*w.cta, b);
  announce(w, id);
}

// Completes a barrier of the whole CTA if every thread that has not arrived has exited: exited threads need not arrive.
void count_again(Warp& w, uint32_t id) {
  NamedBarrier& b = w.cta->barriers[id];
  if (!b.whole_cta || !everyone_arrived(*w.cta, b)) return;
  complete(*w.cta, b);
  announce(w, id);
}

// Adds the predicates of the warp's live lanes to the reduction of bar.red.
void contribute(Warp& w, uint32_t id, LaneMask p) {
  NamedBarrier& b = w.cta->barriers[id];
  b.reduce_count += static_cast<uint32_t>(std::popcount(p & w.alive));
  b.reduce_and = b.reduce_and && (w.alive & ~p) == 0;
  b.reduce_or = b.reduce_or || (w.alive & p) != 0;
}

// src[0] id, src[1] count (bank 2: absent, all threads).
uint32_t operand_of(const Warp& w, Src s, LaneMask mask, uint32_t absent) {
  return s.bank == 2 ? absent : lanes<uint32_t>(w, s)[std::countr_zero(mask)];
}

// Lanes of a barrier instruction may arrive in separate groups; the barrier itself works per warp.
bool lanes_missing(const Warp& w, LaneMask mask) { return (w.alive & ~mask) != 0; }

Effect bar_sync(Warp& w, const DecodedOp& op, LaneMask mask);

// The lanes of a warp may be at different barrier.sync instructions: the last group arrives for every group that is at the same barrier.
bool at_barrier(const Warp& w, const LaneGroup& g, uint32_t id) {
  const DecodedOp& op = w.cta->cluster->launch->program->code[g.pc];
  return op.fn == bar_sync && !op.as<payload::Barrier>().reduces && g.frame == w.frame && (g.lanes & ~read_pred(w, op.guard)) == 0 && operand_of(w, op.src[0], g.lanes, 0) == id;
}
bool others_are_at(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t id) {
  return !op.as<payload::Barrier>().reduces && mask == w.active && std::all_of(w.waiting.begin(), w.waiting.end(), [&](const LaneGroup& g) { return at_barrier(w, g, id); });
}
Effect pass(Warp& w, uint32_t id) {
  w.barrier_wait = false;
  for (LaneGroup& g : w.waiting) {
    if (at_barrier(w, g, id)) ++g.pc;
  }
  return Effect::next;
}

// Lanes that the guard excludes go on; the others wait for them.
Effect leave_excluded(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const auto* b = op.get_if<payload::Barrier>(); b != nullptr && b->aligned && w.active == w.alive) {
    return fault(w, Code::F3406, fmt::format("lanes {:#010x} execute an .aligned instruction, lanes {:#010x} of their warp do not: its guard must be the same in all", mask, w.alive & ~mask));
  }
  run_groups(w, std::array{LaneGroup{w.pc + 1, w.active & ~mask, w.frame, w.backward}, LaneGroup{w.pc, mask, w.frame, w.backward}});
  return Effect::jumped;
}

Effect bar_sync(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask != w.active) return leave_excluded(w, op, mask);
  const uint32_t id = operand_of(w, op.src[0], mask, 0);
  const uint32_t count = operand_of(w, op.src[1], mask, static_cast<uint32_t>(w.cta->warps.size()) * kWarpSize);
  if (w.barrier_wait) {
    if (w.cta->barriers[id].generation == w.barrier_generation) count_again(w, id);
    if (w.cta->barriers[id].generation == w.barrier_generation) return block(w, BlockReason::named_barrier, id);
    return pass(w, id);
  }
  if (lanes_missing(w, mask) && !others_are_at(w, op, mask, id)) return block(w, BlockReason::warp_sync);
  if (const Effect e = check_count(w, id, count); e != Effect::next) return e;
  if (op.as<payload::Barrier>().reduces) contribute(w, id, read_pred(w, op.pred[0]));
  const uint64_t generation = w.cta->barriers[id].generation;
  arrive(w, id, count, op.src[1].bank == 2);
  if (w.cta->barriers[id].generation != generation) return pass(w, id);
  w.barrier_wait = true;
  w.barrier_generation = generation;
  return block(w, BlockReason::named_barrier, id);
}

// The barrier keeps the results until its next instance completes, and that instance needs an arrival of this warp.
template <bool Popc, bool And>
Effect bar_red(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = bar_sync(w, op, mask); e != Effect::next) return e;
  const NamedBarrier& b = w.cta->barriers[operand_of(w, op.src[0], mask, 0)];
  if constexpr (Popc) {
    uint32_t r[kWarpSize];
    for (uint32_t& v : r) v = b.last_count;
    store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  } else {
    write_pred(w, op.dst, (And ? b.last_and : b.last_or) ? kFullMask : 0, mask);
  }
  return Effect::next;
}

Effect bar_arrive(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask != w.active) return leave_excluded(w, op, mask);
  const uint32_t id = operand_of(w, op.src[0], mask, 0), count = operand_of(w, op.src[1], mask, 0);
  if (lanes_missing(w, mask)) return block(w, BlockReason::warp_sync);
  if (const Effect e = check_count(w, id, count); e != Effect::next) return e;
  arrive(w, id, count, false);
  return Effect::next;
}

// Returns the lanes of `group` that may continue; all lanes of `group` have the mask `members`. Lanes may be at different
// bar.warp.sync instructions with the same mask.
LaneMask meet(Warp& w, uint32_t members, LaneMask group) {
  const LaneMask expected = members & w.alive;
  const auto same = std::find_if(w.warp_syncs.begin(), w.warp_syncs.end(), [&](const WarpSync& s) { return s.members == members; });
  if (same == w.warp_syncs.end() && (expected & ~group) == 0) return group;
  WarpSync& s = same != w.warp_syncs.end() ? *same : w.warp_syncs.emplace_back(WarpSync{members, 0, 0});
  if (const LaneMask go = s.released & group; go != 0) {  // the other lanes are already in the next instance
    s.released &= ~go;
    return go;
  }
  s.arrived |= group;  // also of lanes that waited here and were joined by the others
  if ((expected & ~s.arrived) != 0) return 0;
  s.released = s.arrived & ~group;
  s.arrived = 0;
  return group;
}

Effect warp_sync(Warp& w, const DecodedOp& op, LaneMask mask) {
  LaneMask go = 0;
  const Effect e = for_member_masks(w, op.src[0], mask, [&](uint32_t members, LaneMask group) {
    const LaneMask beside = beside_members(w, members, group);
    if ((group & ~members & ~beside) != 0) {
      return fault(w, Code::F3401, fmt::format("bar.warp.sync by lanes {:#010x} outside its mask {:#010x}", group & ~members, members));
    }
    go |= meet(w, members, group);
    return Effect::next;
  });
  if (e != Effect::next || go == mask) return e;
  if (go == 0) return block(w, BlockReason::warp_sync);
  run_groups(w, std::array{LaneGroup{w.pc + 1, go | (w.active & ~mask), w.frame, w.backward}, LaneGroup{w.pc, mask & ~go, w.frame, w.backward}});
  return Effect::jumped;
}

// Operands a and b are at row positions `first` and `first` + 1.
void bind_barrier(Decoder& d, DecodedOp& op, size_t first) {
  op.src[0] = d.source(*d.operand(first), 32);
  op.src[1] = d.operand(first + 1) != nullptr ? d.source(*d.operand(first + 1), 32) : Src{0, 2};
  op.aligned = op.aligned || d.has(isa::Mod::aligned);
}
ExecFn bind_sync(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, 0);
  op.emplace<payload::Barrier>({.aligned = op.aligned});
  // PTX wants all lanes at one place; devices count thread by thread since Volta ("bar.sync … enforced per thread", CUDA C++ Programming
  // Guide, independent thread scheduling), and nvcc copies a barrier into loops that lanes leave at different times.
  op.aligned = false;
  return bar_sync;
}
ExecFn bind_arrive(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, 0);
  return bar_arrive;
}
ExecFn bind_red(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, 1);
  op.pred[0] = d.pred(*d.operand(3));
  op.emplace<payload::Barrier>({.reduces = true});
  if (d.has(isa::Mod::popc)) {
    op.dst = d.dest(*d.operand(0));
    return bar_red<true, false>;
  }
  op.dst = d.dest_pred(*d.operand(0));
  return d.has(isa::Mod::and_) ? bar_red<false, true> : bar_red<false, false>;
}

}  // namespace

template <> ExecFn bind<isa::row::bar_sync>(Decoder& d, DecodedOp& op) { return bind_sync(d, op); }
template <> ExecFn bind<isa::row::bar_arrive>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op); }
template <> ExecFn bind<isa::row::bar_red_pred>(Decoder& d, DecodedOp& op) { return bind_red(d, op); }
template <> ExecFn bind<isa::row::bar_red_popc>(Decoder& d, DecodedOp& op) { return bind_red(d, op); }
template <> ExecFn bind<isa::row::barrier_sync>(Decoder& d, DecodedOp& op) { return bind_sync(d, op); }
template <> ExecFn bind<isa::row::barrier_arrive>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op); }
template <> ExecFn bind<isa::row::barrier_red_pred>(Decoder& d, DecodedOp& op) { return bind_red(d, op); }
template <> ExecFn bind<isa::row::barrier_red_popc>(Decoder& d, DecodedOp& op) { return bind_red(d, op); }
template <> ExecFn bind<isa::row::bar_warp_sync>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  return warp_sync;
}

}  // namespace drywell::sim
