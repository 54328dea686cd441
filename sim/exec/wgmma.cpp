// Semantics of table/wgmma.inc, the issue side. Each warp of the warpgroup computes its 16 rows in an operation of its own.
// Registers in flight are marked: an instruction that uses a marked register waits, as for a load (PTX calls the use undefined).
#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/isa/wgmma_shape.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/matrix.h"
#include "sim/state/payload/group_wait.h"
#include "sim/state/payload/wgmma.h"

namespace drywell::sim {
namespace {

bool overlaps(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint32_t r) { return std::find(b.begin(), b.end(), r) != b.end(); });
}

// Operations on the same registers execute in order; other operations need not (PTX ISA 9.7.15.3).
void order_after_own(Cluster& c, AsyncOp& op) {
  const auto& own = std::get<Wgmma>(op.payload);
  for (const AsyncOp& p : c.pending) {
    const auto* before = std::get_if<Wgmma>(&p.payload);
    if (before == nullptr || p.id >= op.id || p.issuer.cta != op.issuer.cta || p.issuer.warp != op.issuer.warp || before->frame != own.frame) continue;
    if (overlaps(before->d_regs, own.d_regs) || overlaps(before->d_regs, own.a_regs) || overlaps(before->a_regs, own.d_regs)) op.after.push_back(p.id);
  }
}

Effect need_warpgroup(Warp& w, LaneMask mask) {
  if (w.index / 4 * 4 + 4 > w.cta->warps.size()) return fault(w, Code::F3220, fmt::format("wgmma by warp {}, whose warpgroup has fewer than four warps", w.index));
  return need_full_warp(w, mask);
}

bool same_in_all_lanes(const Warp& w, Src s) {
  const uint64_t* v = lanes<uint64_t>(w, s);
  return std::all_of(v, v + kWarpSize, [&](uint64_t x) { return x == v[0]; });
}

Effect multiply(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_warpgroup(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::Wgmma>();
  const Src* s = slots_at(w, x.first_slot);
  const isa::WgmmaShape shape = isa::wgmma_shape(x.shape);
  Wgmma m;
  m.n = static_cast<uint16_t>(shape.n);
  m.k = static_cast<uint16_t>(shape.k);
  m.a_type = x.a_type;
  m.b_type = x.b_type;
  m.d_type = x.d_type;
  m.a_in_registers = x.a_in_registers;
  m.negate_a = x.negate_a;
  m.negate_b = x.negate_b;
  m.trans_a = x.trans_a;
  m.trans_b = x.trans_b;
  m.saturate = x.saturate;
  m.sparse = x.sparse;
  m.frame = w.frame_base;
  for (uint32_t r = 0; r < x.d_count; ++r) m.d_regs.push_back(s[r].offset);
  const Src *a = s + x.d_count, *b = a + (m.a_in_registers ? 4 : 1);
  if (!same_in_all_lanes(w, *b) || (!m.a_in_registers && !same_in_all_lanes(w, *a))) return fault(w, Code::F3221, "wgmma.mma_async: lanes give different matrix descriptors");
  const LaneMask accumulate = read_pred(w, op.pred[0]);
  if (accumulate != 0 && accumulate != kFullMask) return fault(w, Code::F3221, "wgmma.mma_async: lanes disagree on scale-d");
  m.accumulate = accumulate != 0;
  if (m.a_in_registers) {
    for (uint32_t r = 0; r < 4; ++r) m.a_regs.push_back(a[r].offset);
  } else {
    m.a = lanes<uint64_t>(w, *a)[0];
  }
  m.b = lanes<uint64_t>(w, *b)[0];
  if (m.sparse) {
    m.selector = x.selector;
    std::memcpy(m.metadata.data(), lanes<uint32_t>(w, b[1]), sizeof(m.metadata));
  }
  m.group = join_group(w.wgmma_groups, 0);
  ++w.pending_wgmma;
  for (uint32_t r : m.d_regs) mark_pending(w, r);
  for (uint32_t r : m.a_regs) mark_pending(w, r);
  order_after_own(*w.cta->cluster, issue(w, 0, std::move(m)));
  return Effect::next;
}

uint32_t open_serial(const Warp& w) { return w.wgmma_groups.empty() ? ThreadGroups{}.open_serial : w.wgmma_groups.front().open_serial; }

/// True if the warp has issued its part of the groups before `end`, and they are complete.
bool has_completed(const Warp& w, uint64_t end) {
  if (open_serial(w) < end) return false;
  const auto in_flight = [&](const ThreadGroups::Group& g) { return g.serial < end && g.writes != 0; };
  return w.wgmma_groups.empty() || std::none_of(w.wgmma_groups.front().groups.begin(), w.wgmma_groups.front().groups.end(), in_flight);
}

/// A wgmma-group is the warpgroup's (PTX ISA 9.7.15.7.1): a warp that waits for it waits for the parts of all four warps, also those that are
/// not issued yet. CUTLASS lets one thread of the warpgroup release the operands. The warps execute the same instructions, so that their
/// groups have the same numbers.
bool warpgroup_completed(Warp& w, uint64_t allowed) {
  const uint64_t open = open_serial(w), end = open > allowed ? open - allowed : 0;
  Warp* const first = &w.cta->warps[w.index / 4 * 4];
  return std::all_of(first, first + 4, [&](const Warp& peer) { return peer.alive == 0 || has_completed(peer, end); });
}

Effect fence(Warp& w, const DecodedOp&, LaneMask mask) { return need_warpgroup(w, mask); }
Effect commit(Warp& w, const DecodedOp&, LaneMask mask) {
  if (const Effect e = need_warpgroup(w, mask); e != Effect::next) return e;
  commit_groups(w.wgmma_groups, 1);
  w.cta->cluster->wake(*w.cta);  // others of the warpgroup may wait for this group
  return Effect::next;
}
Effect wait(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_warpgroup(w, mask); e != Effect::next) return e;
  const uint64_t allowed = op.as<payload::GroupWait>().allowed;
  const bool complete = groups_complete(w.wgmma_groups, 1, allowed) && warpgroup_completed(w, allowed);
  return complete ? Effect::next : block(w, BlockReason::wgmma, static_cast<uint32_t>(allowed));
}

payload::Wgmma& bind_multiply(Decoder& d, DecodedOp& op, size_t scale_d) {
  const isa::Operand &regs = *d.operand(0), &a = *d.operand(1);
  auto& x = op.emplace<payload::Wgmma>({.first_slot = d.vector(regs, 32), .d_count = regs.count});
  x.a_in_registers = a.kind == isa::Operand::Kind::vec;
  if (x.a_in_registers) {
    d.vector(a, 32);
  } else {
    d.push_slot(d.source(a, 64));
  }
  d.push_slot(d.source(*d.operand(2), 64));
  op.pred[0] = d.pred(*d.operand(scale_d));
  x.shape = d.mod(isa::Slot::shape);
  x.a_type = d.mod(isa::Slot::atype);
  x.b_type = d.mod(isa::Slot::btype);
  x.d_type = d.mod(isa::Slot::dtype);
  x.saturate = d.has(isa::Mod::satfinite);
  return x;
}

// Metadata and selector are between B and scale-d.
payload::Wgmma& bind_sparse(Decoder& d, DecodedOp& op) {
  payload::Wgmma& x = bind_multiply(d, op, 5);
  d.push_slot(d.source(*d.operand(3), 32));
  x.selector = static_cast<uint8_t>(d.operand(4)->value);
  x.sparse = true;
  return x;
}

// imm-scale-a, imm-scale-b and the transposes, from row position `first`. A single transpose is B's; of two the first is A's.
void bind_immediates(Decoder& d, payload::Wgmma& x, size_t first) {
  x.negate_a = d.operand(first)->value < 0;
  x.negate_b = d.operand(first + 1)->value < 0;
  const isa::Operand *one = d.operand(first + 2), *two = d.operand(first + 3);
  x.trans_a = two != nullptr && one->value != 0;
  const isa::Operand* of_b = two != nullptr ? two : one;
  x.trans_b = of_b != nullptr && of_b->value != 0;
}

}  // namespace

template <> ExecFn bind<isa::row::wgmma_fence>(Decoder&, DecodedOp&) { return fence; }
template <> ExecFn bind<isa::row::wgmma_commit_group>(Decoder&, DecodedOp&) { return commit; }
template <> ExecFn bind<isa::row::wgmma_wait_group>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::GroupWait>({.allowed = static_cast<uint64_t>(d.operand(0)->value)});
  return wait;
}
template <> ExecFn bind<isa::row::wgmma_mma>(Decoder& d, DecodedOp& op) {
  bind_immediates(d, bind_multiply(d, op, 3), 4);
  return multiply;
}
template <> ExecFn bind<isa::row::wgmma_mma_sp>(Decoder& d, DecodedOp& op) {
  bind_immediates(d, bind_sparse(d, op), 6);
  return multiply;
}
template <> ExecFn bind<isa::row::wgmma_mma_sp_f8>(Decoder& d, DecodedOp& op) { return bind<isa::row::wgmma_mma_sp>(d, op); }
template <> ExecFn bind<isa::row::wgmma_mma_int>(Decoder& d, DecodedOp& op) {
  bind_multiply(d, op, 3);
  return multiply;
}
template <> ExecFn bind<isa::row::wgmma_mma_sp_int>(Decoder& d, DecodedOp& op) {
  bind_sparse(d, op);
  return multiply;
}
template <> ExecFn bind<isa::row::wgmma_mma_b1>(Decoder& d, DecodedOp& op) {
  bind_multiply(d, op, 3);
  return multiply;
}

}  // namespace drywell::sim
