#include "sim/exec/async_issue.h"

#include <algorithm>

namespace drywell::sim {
namespace {

bool same_thread(const Issuer& a, const Issuer& b) { return a.cta == b.cta && a.warp == b.warp && a.lane == b.lane; }

// PTX ISA 9.7.16.6.2: pairs that execute in issue order. mma -> mma needs the same accumulator; it holds across threads
// that synchronised, which the simulator cannot tell from threads that did not: races are the checkers' business.
bool pipelines_before(const AsyncOp& first, const AsyncOp& second) {
  if (const auto* mma = std::get_if<Umma>(&second.payload)) {
    if (const auto* before = std::get_if<Umma>(&first.payload)) return before->d == mma->d && first.issuer.cta / 2 == second.issuer.cta / 2;
    if (std::holds_alternative<TmemCopy>(first.payload) || std::holds_alternative<TmemShift>(first.payload)) return same_thread(first.issuer, second.issuer);
    return false;
  }
  if (!same_thread(first.issuer, second.issuer)) return false;
  if (const auto* cp = std::get_if<TmemCopy>(&second.payload)) return cp->shape == isa::Mod::_4x256b && std::holds_alternative<TmemShift>(first.payload);
  if (std::holds_alternative<TmemShift>(second.payload)) return std::holds_alternative<Umma>(first.payload);
  if (const auto* commit = std::get_if<Commit>(&second.payload)) {
    if (const auto* mma = std::get_if<Umma>(&first.payload)) return mma->cta_group == commit->cta_group;
    if (const auto* cp = std::get_if<TmemCopy>(&first.payload)) return cp->cta_group == commit->cta_group;
    if (const auto* shift = std::get_if<TmemShift>(&first.payload)) return shift->cta_group == commit->cta_group;
  }
  return false;
}

}  // namespace

void order_after_pending(Cluster& c, AsyncOp& op) {
  for (const AsyncOp& p : c.pending) {
    if (p.id < op.id && pipelines_before(p, op)) op.after.push_back(p.id);
  }
}

ThreadGroups& groups_of(std::vector<ThreadGroups>& all, uint32_t lane) {
  for (ThreadGroups& t : all) {
    if (t.lane == lane) return t;
  }
  all.push_back({lane, 1, {}});
  return all.back();
}

uint32_t join_group(std::vector<ThreadGroups>& all, uint32_t lane) {
  ThreadGroups& t = groups_of(all, lane);
  if (t.groups.empty() || t.groups.back().serial != t.open_serial) t.groups.push_back({t.open_serial, 0, 0});
  ++t.groups.back().reads;
  ++t.groups.back().writes;
  return t.open_serial;
}

}  // namespace drywell::sim
