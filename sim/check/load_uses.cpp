#include "sim/check/load_uses.h"

#include <algorithm>

#include "drywell/isa/spec.h"
#include "sim/check/value_flow.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;

constexpr size_t kMostVisits = 20'000;

bool stores(MemoryRole r) { return r == MemoryRole::store || r == MemoryRole::atomic || r == MemoryRole::reduction; }
bool loads(MemoryRole r) { return r == MemoryRole::load || r == MemoryRole::matrix_load || r == MemoryRole::fragment_load; }

/// It only makes values of values.
bool computes(const Program& p, const PredicateUse& predicates, size_t pc) {
  const DecodedOp& op = p.code[pc];
  const MemoryRole memory = isa::spec(op.opcode).memory;
  const bool writes = p.reg_use[pc].writes != 0 || predicates.of(pc).writes != 0;
  return writes && op.flow == isa::Flow::next && op.sync == isa::SyncRole::none && (memory == MemoryRole::none || loads(memory));
}

}  // namespace

LoadUse LoadUses::find(uint32_t load) {
  const Program::RegUse& regs = p_.reg_use[load];
  ValueFlow::Values brought;
  for (uint32_t i = 0; i < regs.writes; ++i) brought.emplace(false, p_.reg_lists[regs.first + regs.reads + i]);
  size_t budget = kMostVisits;
  LoadUse out;
  const auto visible = [&](size_t pc, ValueFlow::Use use) {
    if (computes(p_, *predicates_, pc)) return false;
    if (use.guard || !stores(isa::spec(p_.code[pc].opcode).memory)) return true;
    out.stores.push_back(static_cast<uint32_t>(pc));
    return false;
  };
  out.everywhere = ValueFlow(p_, *predicates_, budget).follow(load + 1, brought, visible) != ValueFlow::End::exhausted;
  std::sort(out.stores.begin(), out.stores.end());
  return out;
}

const LoadUse& LoadUses::of(uint32_t load) {
  const std::lock_guard lock(mutex_);
  if (predicates_ == nullptr) predicates_ = std::make_unique<PredicateUse>(p_);
  const auto at = known_.find(load);
  return at != known_.end() ? at->second : known_.emplace(load, find(load)).first->second;
}

}  // namespace drywell::sim::check
