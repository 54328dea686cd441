#include "sim/check/value_flow.h"

#include <algorithm>

namespace drywell::sim::check {

void ValueFlow::reach(size_t pc, const Values& carried) {
  if (pc >= p_.code.size() || carried.empty()) return;
  Values& known = at_[pc];
  const size_t before = known.size();
  known.insert(carried.begin(), carried.end());
  if (known.size() != before) open_.push_back(pc);
}

ValueFlow::Use ValueFlow::use_at(size_t pc) const {
  const DecodedOp& op = p_.code[pc];
  const PredicateUse::Range preds = predicates_.of(pc);
  const Program::RegUse& regs = p_.reg_use[pc];
  const uint32_t* const at = p_.reg_lists.data() + regs.first;
  const Values& carried = at_.at(pc);
  const auto has = [&](bool predicate, uint32_t v) { return carried.contains({predicate, v}); };
  const bool operand = std::any_of(preds.at, preds.at + preds.reads, [&](uint32_t v) { return has(true, v); }) ||
                       std::any_of(at, at + regs.reads, [&](uint32_t v) { return has(false, v); });
  return {op.guard.index != 0 && has(true, op.guard.index), operand};
}

void ValueFlow::pass(size_t pc, Use taken) {
  const DecodedOp& op = p_.code[pc];
  const PredicateUse::Range preds = predicates_.of(pc);
  const Program::RegUse& regs = p_.reg_use[pc];
  const uint32_t* const at = p_.reg_lists.data() + regs.first;
  Values carried = at_.at(pc);
  const auto write = [&](Value v) {
    if (taken.any() && !ends_.contains(pc))
      carried.insert(v);
    else if (op.guard.index == 0)
      carried.erase(v);
  };
  for (uint32_t i = 0; i < preds.writes; ++i) write({true, preds.at[preds.reads + i]});
  for (uint32_t i = 0; i < regs.writes; ++i) write({false, at[regs.reads + i]});
  const bool goes_on = op.guard.index != 0 || op.flow == isa::Flow::next || op.flow == isa::Flow::call;
  if (goes_on) reach(pc + 1, carried);
  for (const uint32_t target : branch_targets(p_, op)) reach(target, carried);
}

}  // namespace drywell::sim::check
