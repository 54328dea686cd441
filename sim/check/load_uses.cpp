#include "sim/check/load_uses.h"

#include <algorithm>
#include <optional>
#include <set>

#include "drywell/isa/spec.h"
#include "sim/check/value_flow.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;

constexpr size_t kMostVisits = 20'000;
constexpr size_t kMostDecided = 500;

bool stores(MemoryRole r) { return r == MemoryRole::store || r == MemoryRole::atomic || r == MemoryRole::reduction; }
bool loads(MemoryRole r) { return r == MemoryRole::load || r == MemoryRole::matrix_load || r == MemoryRole::fragment_load; }

/// It only makes values of values.
bool computes(const Program& p, const PredicateUse& predicates, size_t pc) {
  const DecodedOp& op = p.code[pc];
  const MemoryRole memory = isa::spec(op.opcode).memory;
  const bool writes = p.reg_use[pc].writes != 0 || predicates.of(pc).writes != 0;
  return writes && op.flow == isa::Flow::next && op.sync == isa::SyncRole::none && (memory == MemoryRole::none || loads(memory));
}

void add_results(const Program& p, const PredicateUse& predicates, size_t pc, ValueFlow::Values& to) {
  const Program::RegUse& regs = p.reg_use[pc];
  for (uint32_t i = 0; i < regs.writes; ++i) to.emplace(false, p.reg_lists[regs.first + regs.reads + i]);
  const PredicateUse::Range preds = predicates.of(pc);
  for (uint32_t i = 0; i < preds.writes; ++i) to.emplace(true, preds.at[preds.reads + i]);
}

bool leads_on(const DecodedOp& op) { return op.flow == isa::Flow::next || op.flow == isa::Flow::branch; }

std::vector<size_t> next_of(const Program& p, size_t pc) {
  const DecodedOp& op = p.code[pc];
  std::vector<size_t> out;
  if (op.flow == isa::Flow::next || op.guard.index != 0) out.push_back(pc + 1);
  if (op.flow == isa::Flow::branch) {
    for (const uint32_t target : branch_targets(p, op)) out.push_back(target);
  }
  return out;
}

using Region = std::set<size_t>;

/// The instructions on all paths from a branch to `end`; nothing if a path leads elsewhere, back to the branch or through more than
/// kMostDecided. Compilers put blocks in any order: the meeting may lie ahead of the branch.
std::optional<Region> paths_to(const Program& p, size_t branch, size_t end) {
  Region seen;
  std::vector<size_t> open = next_of(p, branch);
  while (!open.empty()) {
    const size_t pc = open.back();
    open.pop_back();
    if (pc == end || seen.contains(pc)) continue;
    if (pc == branch || pc >= p.code.size() || !leads_on(p.code[pc]) || seen.size() == kMostDecided) return std::nullopt;
    seen.insert(pc);
    for (const size_t next : next_of(p, pc)) open.push_back(next);
  }
  return seen;
}

/// Where paths behind a branch may meet: the places that branches among kMostDecided instructions name, nearest first, and what follows this one.
std::vector<size_t> candidates(const Program& p, size_t branch) {
  std::vector<size_t> out = next_of(p, branch), open = out;
  Region seen(open.begin(), open.end());
  for (size_t i = 0; i < open.size() && i < kMostDecided; ++i) {
    if (open[i] >= p.code.size() || !leads_on(p.code[open[i]])) continue;
    for (const size_t next : next_of(p, open[i])) {
      if (p.code[open[i]].flow == isa::Flow::branch || seen.contains(next)) out.push_back(next);
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return out;
}

/// A branch that takes a followed value decides what the instructions up to the meeting of its paths leave in registers: approximations of
/// functions branch so. False if they may do more than compute.
bool follow_decided(const Program& p, const PredicateUse& predicates, size_t branch, ValueFlow& flow) {
  const auto fine = [&](size_t pc) { return p.code[pc].flow == isa::Flow::branch || computes(p, predicates, pc); };
  for (const size_t end : candidates(p, branch)) {
    const std::optional<Region> region = paths_to(p, branch, end);
    if (!region.has_value() || !std::all_of(region->begin(), region->end(), fine)) continue;
    ValueFlow::Values decided;
    for (const size_t pc : *region) add_results(p, predicates, pc, decided);
    flow.reach(end, decided);
    return true;
  }
  return false;
}

}  // namespace

LoadUse LoadUses::find(uint32_t load) {
  ValueFlow::Values brought;
  add_results(p_, *predicates_, load, brought);
  size_t budget = kMostVisits;
  LoadUse out;
  ValueFlow flow(p_, *predicates_, budget);
  const auto visible = [&](size_t pc, ValueFlow::Use use) {
    const DecodedOp& op = p_.code[pc];
    if (computes(p_, *predicates_, pc)) return false;
    if (op.flow == isa::Flow::branch) return !follow_decided(p_, *predicates_, pc, flow);
    if (use.guard || !stores(isa::spec(op.opcode).memory)) return true;
    out.stores.push_back(static_cast<uint32_t>(pc));
    return false;
  };
  out.everywhere = flow.follow(load + 1, brought, visible) != ValueFlow::End::exhausted;
  std::sort(out.stores.begin(), out.stores.end());
  out.stores.erase(std::unique(out.stores.begin(), out.stores.end()), out.stores.end());
  return out;
}

const LoadUse& LoadUses::of(uint32_t load) {
  const std::lock_guard lock(mutex_);
  if (predicates_ == nullptr) predicates_ = std::make_unique<PredicateUse>(p_);
  const auto at = known_.find(load);
  return at != known_.end() ? at->second : known_.emplace(load, find(load)).first->second;
}

}  // namespace drywell::sim::check
