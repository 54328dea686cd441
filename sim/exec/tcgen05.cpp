// Semantics of table/tcgen05.inc: allocation, and the issue side of the asynchronous forms.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/isa/tmem_layout.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/matrix.h"
#include "sim/exec/tcgen05.h"
#include "sim/state/payload/tcgen05.h"

namespace drywell::sim {

Effect use_cta_group(Warp& w, uint32_t group, Peer peer) {
  Cta& c = *w.cta;
  if (c.cta_group_used != 0 && c.cta_group_used != group) {
    return fault(w, Code::F3203, fmt::format("tcgen05 with cta_group::{} after cta_group::{} in the same kernel", group, c.cta_group_used));
  }
  c.cta_group_used = static_cast<uint8_t>(group);
  if (group == 1) return Effect::next;
  if ((c.rank ^ 1) >= c.cluster->ctas.size()) return fault(w, Code::F3204, "cta_group::2 without a peer CTA: the cluster has one CTA");
  const std::vector<Warp>& warps = c.cluster->cta(c.rank ^ 1).warps;
  const bool ended = std::all_of(warps.begin(), warps.end(), [](const Warp& p) { return p.finished(); });
  if (peer == Peer::alive && ended) return fault(w, Code::F3204, "cta_group::2 after the peer CTA has ended");
  return Effect::next;
}

const isa::Operand* named_operand(Decoder& d, std::string_view name) {
  const isa::InstrSpec& row = isa::spec(d.instr().op);
  for (size_t k = 0; k < row.operand_count(); ++k) {
    if (name == row.operands[k].name) return d.operand(k);
  }
  return nullptr;
}

void push_tmem_address(Decoder& d, const isa::Operand& o) {
  const Decoder::Address t = d.address(o);
  d.push_slot(t.has_base ? t.base : d.constant(0, 32));
  d.push_slot(d.constant(static_cast<uint64_t>(t.offset), 64));
}

namespace {

uint64_t owner_of(const Cta& c) { return c.serial + 1; }

uint32_t uniform(const Warp& w, Src s, LaneMask mask) { return lanes<uint32_t>(w, s)[std::countr_zero(mask)]; }

bool is_uniform(const Warp& w, Src s, LaneMask mask) {
  const uint32_t first = uniform(w, s, mask);
  bool same = true;
  for_lanes(mask, [&](uint32_t i) { same = same && lanes<uint32_t>(w, s)[i] == first; });
  return same;
}

// The pair's allocation needs a free run at the same address in both CTAs, and one warp of each CTA (docs/facts/tcgen05.md §1.2).
int find_pair(Cta& a, Cta& b, uint32_t columns) {
  for (uint32_t c = 0; c + columns <= kTmemColumns; c += columns) {
    if (a.tmem->find_free_at(c, columns) && b.tmem->find_free_at(c, columns)) return static_cast<int>(c);
  }
  return -1;
}

Effect store_address(Warp& w, const DecodedOp& op, uint32_t lane, uint32_t column) {
  const uint64_t address = lane_address(w, op, lane);
  uint8_t* p = shared_pointer(w, shared_address(w, address, is_shared_generic(address)), 4);
  if (p == nullptr || address % 4 != 0) return fault(w, Code::F3205, fmt::format("tcgen05.alloc writes its result to {:#x}, outside the CTA's shared memory or misaligned", address));
  std::memcpy(p, &column, 4);
  return Effect::next;
}

Effect alloc(Warp& w, const DecodedOp& op, LaneMask mask) {
  Cta& c = *w.cta;
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const uint32_t columns = uniform(w, op.src[1], mask), group = op.as<payload::TmemAllocation>().cta_group;
  if (const Effect e = use_cta_group(w, group); e != Effect::next) return e;
  if (!is_uniform(w, op.src[1], mask)) return fault(w, Code::F3206, "tcgen05.alloc: lanes ask for different column counts");
  if (columns < 32 || columns > 512 || !std::has_single_bit(columns)) return fault(w, Code::F3201, fmt::format("tcgen05.alloc of {} columns: a power of two from 32 to 512", columns));
  if (c.alloc_permit_given_up) return fault(w, Code::F3202, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  if (group == 1) {
    const int at = c.tmem->find_free(columns);
    if (at < 0) return block(w, BlockReason::tmem_alloc, columns);
    c.tmem->allocate(static_cast<uint32_t>(at), columns, owner_of(c));
    return store_address(w, op, lane, static_cast<uint32_t>(at));
  }
  // cta_group::2: the first warp that executes the instruction records its request; the peer's warp completes both.
  Cta& peer = c.cluster->cta(c.rank ^ 1);
  if (w.pair_result >= 0) {
    const auto at = static_cast<uint32_t>(w.pair_result);
    w.pair_result = -1;
    return store_address(w, op, lane, at);
  }
  c.pair_request = columns;
  c.pair_warp = w.index;
  if (peer.pair_request != columns) return block(w, BlockReason::tmem_alloc, columns);
  const int at = find_pair(c, peer, columns);
  if (at < 0) return block(w, BlockReason::tmem_alloc, columns);
  c.tmem->allocate(static_cast<uint32_t>(at), columns, owner_of(c));
  peer.tmem->allocate(static_cast<uint32_t>(at), columns, owner_of(peer));
  peer.warps[peer.pair_warp].pair_result = at;
  c.pair_request = peer.pair_request = 0;
  c.cluster->wake(peer);
  return store_address(w, op, lane, static_cast<uint32_t>(at));
}

Effect dealloc(Warp& w, const DecodedOp& op, LaneMask mask) {
  Cta& c = *w.cta;
  const uint32_t address = uniform(w, op.src[0], mask), columns = uniform(w, op.src[1], mask);
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  if (const Effect e = use_cta_group(w, op.as<payload::TmemAllocation>().cta_group); e != Effect::next) return e;
  if (!is_uniform(w, op.src[0], mask) || !is_uniform(w, op.src[1], mask)) return fault(w, Code::F3206, "tcgen05.dealloc: lanes name different columns");
  const uint32_t live = c.tmem->allocation_at(TmemAddr(address).column(), owner_of(c));
  // Hardware bears a second tcgen05.dealloc of one allocation (docs/deviations.md): a hazard, not a fault.
  if (live == 0 && c.tmem->was_freed(TmemAddr(address).column(), columns, owner_of(c))) return Effect::next;
  if (live == 0) return fault(w, Code::F3207, fmt::format("tcgen05.dealloc at {:#010x}: no live allocation of this CTA starts there", address));
  if (live != columns) return fault(w, Code::F3208, fmt::format("tcgen05.dealloc of {} columns at {:#010x}, which was allocated with {}", columns, address, live));
  c.tmem->release(TmemAddr(address).column());
  c.cluster->wake_all();
  return Effect::next;
}

Effect relinquish(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  if (const Effect e = use_cta_group(w, op.as<payload::TmemAllocation>().cta_group); e != Effect::next) return e;
  w.cta->alloc_permit_given_up = true;
  return Effect::next;
}

Effect commit(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::TmemCommit>();
  if (const Effect e = use_cta_group(w, x.cta_group); e != Effect::next) return e;
  for_lanes(mask, [&](uint32_t lane) {
    Commit c;
    const uint64_t address = lane_address(w, op, lane);
    c.mbar = static_cast<uint32_t>(address);
    c.cta_group = x.cta_group;
    if (x.multicast) c.multicast = static_cast<uint16_t>(lanes<uint32_t>(w, op.src[1])[lane]);
    AsyncOp& a = issue(w, lane, c);
    order_after_pending(*w.cta->cluster, a);
  });
  return Effect::next;
}

void set_reduction(TmemLdSt& t, const payload::TmemAccess& x) {
  t.reduce_op = x.reduce_op;
  t.reduce_type = x.reduce_type;
  t.reduce_abs = x.reduce_abs;
  t.reduce_nan = x.reduce_nan;
  t.regs.push_back(x.reduced);
}

template <bool Load>
Effect tmem_access(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Program& p = *w.cta->cluster->launch->program;
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  for (uint32_t i = 1; i < kWarpSize; ++i) {
    if (lane_address(w, op, i) != lane_address(w, op, 0)) {
      return fault(w, Code::F3206, fmt::format("tcgen05.{}: lane {} gives another address than lane 0 (PTX ISA 9.7.16.8: the same in all)", Load ? "ld" : "st", i));
    }
  }
  const auto& x = op.as<payload::TmemAccess>();
  TmemLdSt t;
  t.load = Load;
  t.shape = x.shape;
  t.pack = x.pack;
  t.num = x.num;
  t.split = x.split;
  t.taddr = static_cast<uint32_t>(lane_address(w, op, lane));
  t.frame = w.frame_base;
  for (uint32_t k = 0; k < x.count; ++k) {
    const Src s = p.slots[x.first_slot + k];
    if constexpr (Load) {
      t.regs.push_back(s.offset);
    } else {
      const uint32_t* v = lanes<uint32_t>(w, s);
      t.data.insert(t.data.end(), v, v + kWarpSize);
    }
  }
  if constexpr (Load) {
    if (x.reduce_op != isa::Mod::none) set_reduction(t, x);
    ++w.pending_ld;
    for (uint32_t r : t.regs) mark_pending(w, r);
  } else {
    ++w.pending_st;
  }
  issue(w, lane, std::move(t));
  return Effect::next;
}

Effect wait_ld(Warp& w, const DecodedOp&, LaneMask) { return w.pending_ld == 0 ? Effect::next : block(w, BlockReason::tmem_ld); }
Effect wait_st(Warp& w, const DecodedOp&, LaneMask) { return w.pending_st == 0 ? Effect::next : block(w, BlockReason::tmem_st); }
Effect order_only(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

payload::TmemAccess& bind_access(Decoder& d, DecodedOp& op) {
  const isa::Operand& regs = *named_operand(d, "r");
  const isa::Operand* split = named_operand(d, "split");
  d.set_address(op, *named_operand(d, "taddr"));
  return op.emplace<payload::TmemAccess>({.first_slot = d.vector(regs, 32), .count = regs.count, .num = 1u << (static_cast<unsigned>(d.mod(isa::Slot::num)) - static_cast<unsigned>(isa::Mod::x1)), .split = split != nullptr ? static_cast<int32_t>(split->value) : 0, .shape = d.mod(isa::Slot::shape), .pack = d.mod(isa::Slot::pack) != isa::Mod::none});
}

}  // namespace

template <> ExecFn bind<isa::row::tcgen05_alloc>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.src[1] = d.source(*d.operand(1), 32);
  op.emplace<payload::TmemAllocation>({.cta_group = cta_group_of(d)});
  return alloc;
}
template <> ExecFn bind<isa::row::tcgen05_dealloc>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(0), 32);
  op.src[1] = d.source(*d.operand(1), 32);
  op.emplace<payload::TmemAllocation>({.cta_group = cta_group_of(d)});
  return dealloc;
}
template <> ExecFn bind<isa::row::tcgen05_relinquish_alloc_permit>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::TmemAllocation>({.cta_group = cta_group_of(d)});
  return relinquish;
}
template <> ExecFn bind<isa::row::tcgen05_commit>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.emplace<payload::TmemCommit>({.cta_group = cta_group_of(d), .multicast = d.operand(1) != nullptr});
  if (d.operand(1) != nullptr) op.src[1] = d.source(*d.operand(1), 16);
  return commit;
}
template <> ExecFn bind<isa::row::tcgen05_ld>(Decoder& d, DecodedOp& op) {
  bind_access(d, op);
  return tmem_access<true>;
}
template <> ExecFn bind<isa::row::tcgen05_st>(Decoder& d, DecodedOp& op) {
  bind_access(d, op);
  return tmem_access<false>;
}
template <> ExecFn bind<isa::row::tcgen05_ld_red>(Decoder& d, DecodedOp& op) {
  payload::TmemAccess& x = bind_access(d, op);
  const isa::Operand& red = *named_operand(d, "red");
  x.reduced = d.dest(red.kind == isa::Operand::Kind::vec ? d.elements(red)[0] : red);
  x.reduce_op = d.has(isa::Mod::max) ? isa::Mod::max : isa::Mod::min;
  x.reduce_type = d.mod(isa::Slot::type);
  x.reduce_abs = d.has(isa::Mod::abs);
  x.reduce_nan = d.has(isa::Mod::NaN);
  return tmem_access<true>;
}
template <> ExecFn bind<isa::row::tcgen05_wait_ld>(Decoder&, DecodedOp&) { return wait_ld; }
template <> ExecFn bind<isa::row::tcgen05_wait_st>(Decoder&, DecodedOp&) { return wait_st; }
template <> ExecFn bind<isa::row::tcgen05_fence_before_thread_sync>(Decoder&, DecodedOp&) { return order_only; }
template <> ExecFn bind<isa::row::tcgen05_fence_after_thread_sync>(Decoder&, DecodedOp&) { return order_only; }

}  // namespace drywell::sim
