// Semantics of table/async_copy.inc, the issue side: one operation for the lanes of a warp that share a group.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "drywell/isa/opcode.h"
#include "sim/events/mbarrier_ops.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/state/payload/async_copy.h"
#include "sim/state/payload/group_wait.h"

namespace drywell::sim {
namespace {

struct Source {
  const Src* s;
  const payload::AsyncCopy& x;
  uint64_t address(const Warp& w, uint32_t lane) const { return lane_value(w, s[0], lane, x.wide) + lane_value(w, s[1], lane, true); }
  uint32_t bytes(const Warp& w, uint32_t lane, LaneMask ignored) const {
    if ((ignored >> lane & 1) != 0) return 0;
    return x.has_size ? static_cast<uint32_t>(lane_value(w, s[2], lane, false)) : x.bytes;
  }
};

AsyncCopy& copy_of_group(std::vector<AsyncCopy>& all, uint32_t group) {
  const auto found = std::find_if(all.begin(), all.end(), [group](const AsyncCopy& c) { return c.group == group; });
  if (found != all.end()) return *found;
  AsyncCopy& c = all.emplace_back();
  c.group = group;
  c.lanes.reserve(kWarpSize);
  return c;
}

Effect copy(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::AsyncCopy>();
  const Source source{slots_at(w, x.first_slot), x};
  const LaneMask ignored = x.may_ignore ? read_pred(w, op.pred[0]) : 0;
  std::vector<AsyncCopy> by_group;  // nearly always one
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    const uint64_t to = lane_address(w, op, lane), from = source.address(w, lane);
    const uint32_t bytes = source.bytes(w, lane, ignored), shared = shared_address(w, to, false);
    if (to % x.bytes != 0 || shared_pointer(w, shared, x.bytes) == nullptr) {
      result = access_fault(w, Space::shared_cta, to, x.bytes, lane, true);
    } else if (from % x.bytes != 0) {
      result = access_fault(w, Space::global, from, x.bytes, lane, false);
    } else if (bytes > x.bytes) {
      result = fault(w, Code::F3321, fmt::format("lane {}: cp.async of {} bytes with src-size {}", lane, x.bytes, bytes));
    } else {
      AsyncCopy& c = copy_of_group(by_group, join_group(w.async_groups, lane));
      c.mask |= 1u << lane;
      c.lanes.push_back({shared, from, x.bytes, static_cast<uint8_t>(bytes)});
    }
  });
  if (result == Effect::fault) return result;
  std::sort(by_group.begin(), by_group.end(), [](const AsyncCopy& a, const AsyncCopy& b) { return a.group < b.group; });
  for (AsyncCopy& c : by_group) {
    const auto first = static_cast<uint32_t>(std::countr_zero(c.mask));
    issue(w, first, std::move(c));
  }
  return Effect::next;
}

Effect commit_group(Warp& w, const DecodedOp&, LaneMask mask) {
  commit_groups(w.async_groups, mask);
  return Effect::next;
}
Effect wait_group(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint64_t allowed = op.as<payload::GroupWait>().allowed;
  return groups_complete(w.async_groups, mask, allowed) ? Effect::next : block(w, BlockReason::async_group, static_cast<uint32_t>(allowed));
}
// Equals a commit and a wait for every group (PTX ISA 9.7.9.25.2.3).
Effect wait_all(Warp& w, const DecodedOp&, LaneMask mask) {
  commit_groups(w.async_groups, mask);
  return groups_complete(w.async_groups, mask, 0) ? Effect::next : block(w, BlockReason::async_group);
}

bool is_copy_of(const AsyncOp& op, const Warp& w, LaneMask mask) {
  const auto* c = std::get_if<AsyncCopy>(&op.payload);
  return c != nullptr && !c->lanes.empty() && op.issuer.cta == w.cta->rank && op.issuer.warp == w.index && (c->mask & mask) != 0;
}

// Lanes with the same barrier arrive in one operation, when all their copies are complete. Without .noinc each lane adds one to
// the pending count at issue, so that its own arrival leaves the count as it was (PTX ISA 9.7.13.15.15).
Effect arrive(Warp& w, const DecodedOp& op, LaneMask mask) {
  Cluster& cluster = *w.cta->cluster;
  std::map<uint32_t, LaneMask> by_barrier;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    by_barrier[shared_address(w, a, is_shared_generic(a))] |= 1u << lane;
  });
  for (const auto& [address, members] : by_barrier) {
    GuestError why;
    Mbarrier* b = find_mbarrier(cluster, address, why);
    if (b == nullptr) return fault(w, why.code, why.message);
    AsyncCopy c;
    c.mbar = address;
    c.mask = members;
    c.noinc = op.as<payload::AsyncCopyArrive>().noinc;
    const auto count = static_cast<uint32_t>(std::popcount(members));
    if (!c.noinc) {
      if (b->pending + count > Mbarrier::kMaxCount) return fault(w, Code::F3103, fmt::format("cp.async.mbarrier.arrive raises the pending count of mbarrier {:#x} past its limit", address));
      b->pending += count;
    }
    AsyncOp& a = issue(w, static_cast<uint32_t>(std::countr_zero(members)), std::move(c));
    for (const AsyncOp& p : cluster.pending) {
      if (p.id < a.id && is_copy_of(p, w, members)) a.after.push_back(p.id);
    }
  }
  return Effect::next;
}

}  // namespace

template <> ExecFn bind<isa::row::cp_async>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  const Decoder::Address from = d.address(*d.operand(1));
  auto& x = op.emplace<payload::AsyncCopy>();
  x.first_slot = d.push_slot(from.base);
  d.push_slot(d.constant(static_cast<uint64_t>(from.offset), 64));
  d.push_slot(d.operand(3) != nullptr ? d.source(*d.operand(3), 32) : Src{});
  x.wide = from.wide;
  x.has_size = d.operand(3) != nullptr;
  x.may_ignore = d.operand(4) != nullptr;
  if (x.may_ignore) op.pred[0] = d.pred(*d.operand(4));
  x.bytes = static_cast<uint8_t>(d.operand(2)->value);
  return copy;
}
template <> ExecFn bind<isa::row::cp_async_commit_group>(Decoder&, DecodedOp&) { return commit_group; }
template <> ExecFn bind<isa::row::cp_async_wait_group>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::GroupWait>({.allowed = static_cast<uint64_t>(d.operand(0)->value)});
  return wait_group;
}
template <> ExecFn bind<isa::row::cp_async_wait_all>(Decoder&, DecodedOp&) { return wait_all; }
template <> ExecFn bind<isa::row::cp_async_mbarrier_arrive>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.emplace<payload::AsyncCopyArrive>({.noinc = d.has(isa::Mod::noinc)});
  return arrive;
}

}  // namespace drywell::sim
