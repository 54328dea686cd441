#include "sim/check/load_uses.h"

#include <algorithm>

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

/// Where all paths behind a branch meet again; 0 if it does not lead forwards, or they do not within kMostDecided instructions.
size_t meeting_of(const Program& p, size_t branch) {
  size_t end = branch + 1;
  for (size_t pc = branch; pc < end; ++pc) {
    const DecodedOp& op = p.code[pc];
    if (op.flow == isa::Flow::next) continue;
    if (op.flow != isa::Flow::branch) return 0;
    for (const uint32_t target : branch_targets(p, op)) {
      if (target <= branch) return 0;
      end = std::max<size_t>(end, target);
    }
    if (end - branch > kMostDecided) return 0;
  }
  return end;
}

/// A branch that takes a followed value decides what the instructions up to the meeting of its paths leave in registers: approximations of
/// functions branch so. False if they may do more than compute.
bool follow_decided(const Program& p, const PredicateUse& predicates, size_t branch, ValueFlow& flow) {
  const size_t end = meeting_of(p, branch);
  if (end == 0) return false;
  ValueFlow::Values decided;
  for (size_t pc = branch + 1; pc < end; ++pc) {
    if (p.code[pc].flow == isa::Flow::branch) continue;
    if (!computes(p, predicates, pc)) return false;
    add_results(p, predicates, pc, decided);
  }
  flow.reach(end, decided);
  return true;
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
