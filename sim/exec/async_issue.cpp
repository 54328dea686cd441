#include "sim/exec/async_issue.h"

#include <algorithm>

namespace drywell::sim {
namespace {

bool same_thread(const Issuer& a, const Issuer& b) { return a.cta == b.cta && a.warp == b.warp && a.lane == b.lane; }

uint32_t cta_group_of(const AsyncOp::Payload& p) {
  if (const auto* mma = std::get_if<Umma>(&p)) return mma->cta_group;
  if (const auto* cp = std::get_if<TmemCopy>(&p)) return cp->cta_group;
  if (const auto* shift = std::get_if<TmemShift>(&p)) return shift->cta_group;
  if (const auto* commit = std::get_if<Commit>(&p)) return commit->cta_group;
  return 0;
}

// True if both operations use the same tensor core, or the same pair of tensor cores.
bool same_tensor_core(const AsyncOp& a, const AsyncOp& b) {
  const uint32_t group = cta_group_of(a.payload);
  return group != 0 && group == cta_group_of(b.payload) && (group == 2 ? a.issuer.cta / 2 == b.issuer.cta / 2 : a.issuer.cta == b.issuer.cta);
}

// M, N and K of an instruction: the shape bits of its descriptor, its kind and form.
bool same_shape(const Umma& a, const Umma& b) {
  constexpr uint32_t kShapeBits = 0x3Fu << 17 | 0x1Fu << 24;
  return a.kind == b.kind && a.ws == b.ws && a.sparse == b.sparse && ((a.idesc ^ b.idesc) & kShapeBits) == 0;
}

// PTX ISA 9.7.16.6.2 (docs/facts/tcgen05.md §7.2): pairs that execute in issue order. The order holds across threads that
// synchronised with the tcgen05 fences. Here it holds for all threads, synchronised or not: the checkers report the races.
bool pipelines_before(const AsyncOp& first, const AsyncOp& second) {
  if (!same_tensor_core(first, second)) return false;
  const bool after_mma = std::holds_alternative<Umma>(first.payload), after_copy = std::holds_alternative<TmemCopy>(first.payload),
             after_shift = std::holds_alternative<TmemShift>(first.payload);
  if (const auto* mma = std::get_if<Umma>(&second.payload)) {
    if (!after_mma) return after_copy || after_shift;
    // PTX: of one accumulator and shape. CuTe DSL's fmha_bwd writes S over the P that an earlier MMA of its thread still reads, and runs.
    const auto& before = std::get<Umma>(first.payload);
    return same_thread(first.issuer, second.issuer) || (before.d == mma->d && same_shape(before, *mma));
  }
  if (const auto* cp = std::get_if<TmemCopy>(&second.payload)) {
    // Not in PTX's list, but CUTLASS's block-scaled mainloops (sm100_blockscaled_mma_warpspecialized.hpp) copy the next scale
    // factors over scale factors that earlier MMAs of the same thread have not read yet.
    return (after_mma && same_thread(first.issuer, second.issuer)) || (cp->shape == isa::Mod::_4x256b && after_shift);
  }
  if (std::holds_alternative<TmemShift>(second.payload)) return after_mma;
  // A commit covers the operations that its own thread issued.
  return std::holds_alternative<Commit>(second.payload) && same_thread(first.issuer, second.issuer) && (after_mma || after_copy || after_shift);
}

}  // namespace

void order_after_pending(Cluster& c, AsyncOp& op) {
  for (const AsyncOp& p : c.pending) {
    if (p.id < op.id && pipelines_before(p, op)) op.after.push_back(p.id);
  }
}

ThreadGroups& groups_of(std::vector<ThreadGroups>& all, uint32_t lane) {
  ThreadGroups* found = find_groups(all, lane);
  return found != nullptr ? *found : all.emplace_back(ThreadGroups{lane, 1, {}});
}

uint32_t join_group(std::vector<ThreadGroups>& all, uint32_t lane) {
  ThreadGroups& t = groups_of(all, lane);
  if (t.groups.empty() || t.groups.back().serial != t.open_serial) t.groups.push_back({t.open_serial, 0, 0});
  ++t.groups.back().reads;
  ++t.groups.back().writes;
  return t.open_serial;
}

void commit_groups(std::vector<ThreadGroups>& all, LaneMask mask) {
  for_lanes(mask, [&](uint32_t lane) {
    ThreadGroups& t = groups_of(all, lane);
    if (t.groups.empty() || t.groups.back().serial != t.open_serial) t.groups.push_back({t.open_serial, 0, 0});
    ++t.open_serial;
  });
}

// Groups complete in order: a group is pending while it, or an older group, has work in flight.
bool groups_complete(std::vector<ThreadGroups>& all, LaneMask mask, uint64_t allowed, GroupWork work) {
  bool complete = true;
  for_lanes(mask, [&](uint32_t lane) {
    ThreadGroups& t = groups_of(all, lane);
    while (!t.groups.empty() && t.groups.front().serial < t.open_serial && t.groups.front().writes == 0) t.groups.erase(t.groups.begin());
    uint64_t pending = 0;
    for (const ThreadGroups::Group& g : t.groups) {
      if (g.serial >= t.open_serial) break;
      if (pending != 0 || (work == GroupWork::reads ? g.reads : g.writes) != 0) ++pending;
    }
    complete = complete && pending <= allowed;
  });
  return complete;
}

}  // namespace drywell::sim
