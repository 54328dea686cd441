#include "sim/check/untested_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace drywell::sim::check {
namespace {

// A value: a predicate's index in its frame, or a register's offset.
using Value = std::pair<bool, uint32_t>;
using Values = std::set<Value>;

/// Follows one wait's answer forwards through the function, along all branches.
class Answer {
 public:
  Answer(const Program& p, const PredicateUse& predicates, size_t& budget)
      : p_(p), predicates_(predicates), budget_(budget) {}

  bool tested(size_t wait) {
    reach(wait + 1, {{true, p_.code[wait].dst}});
    while (!open_.empty()) {
      if (budget_ == 0) return true;  // too large to decide
      --budget_;
      const size_t pc = open_.back();
      open_.pop_back();
      if (step(pc, at_[pc])) return true;
    }
    return false;
  }

 private:
  void reach(size_t pc, const Values& carried) {
    if (pc >= p_.code.size() || carried.empty()) return;
    Values& known = at_[pc];
    const size_t before = known.size();
    known.insert(carried.begin(), carried.end());
    if (known.size() != before) open_.push_back(pc);
  }
  /// Values that leave the registers may be tested anywhere.
  static bool escapes(const DecodedOp& op) {
    const isa::InstrSpec& row = isa::spec(op.opcode);
    return row.memory == isa::MemoryRole::store || row.flow == isa::Flow::call ||
           row.flow == isa::Flow::return_;
  }
  /// One instruction behind the wait. Returns whether it tests the answer.
  bool step(size_t pc, Values carried) {
    const DecodedOp& op = p_.code[pc];
    const PredicateUse::Range preds = predicates_.of(pc);
    const Program::RegUse& regs = p_.reg_use[pc];
    const uint32_t* const at = p_.reg_lists.data() + regs.first;
    const auto has = [&](bool predicate, uint32_t v) { return carried.contains({predicate, v}); };
    if (op.guard.index != 0 && has(true, op.guard.index)) return true;
    const bool reads =
        std::any_of(preds.at, preds.at + preds.reads, [&](uint32_t v) { return has(true, v); }) ||
        std::any_of(at, at + regs.reads, [&](uint32_t v) { return has(false, v); });
    if (reads && escapes(op)) return true;
    const auto write = [&](Value v) {
      if (reads)
        carried.insert(v);
      else if (op.guard.index == 0)
        carried.erase(v);
    };
    for (uint32_t i = 0; i < preds.writes; ++i) write({true, preds.at[preds.reads + i]});
    for (uint32_t i = 0; i < regs.writes; ++i) write({false, at[regs.reads + i]});
    const bool goes_on = op.guard.index != 0 || op.flow == isa::Flow::next || op.flow == isa::Flow::call;
    if (goes_on) reach(pc + 1, carried);
    for (const uint32_t target : branch_targets(p_, op)) reach(target, carried);
    return false;
  }

  const Program& p_;
  const PredicateUse& predicates_;
  size_t& budget_;
  std::map<size_t, Values> at_;
  std::vector<size_t> open_;
};

/// The usual wait: the next instruction branches on its answer.
bool tested_at_once(const Program& p, size_t wait) {
  return wait + 1 < p.code.size() && p.code[wait + 1].guard.index == p.code[wait].dst &&
         p.code[wait + 1].guard.index != 0;
}

}  // namespace

std::vector<uint8_t> untested_waits(const Program& p) {
  size_t steps = 50'000;  // of all waits together: a launch may have many
  std::vector<uint8_t> all(p.code.size(), 0);
  std::vector<size_t> waits;
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    if (p.code[pc].sync == isa::SyncRole::mbarrier_wait && !tested_at_once(p, pc)) waits.push_back(pc);
  }
  if (waits.empty()) return all;
  const PredicateUse predicates(p);
  for (const size_t pc : waits) all[pc] = Answer(p, predicates, steps).tested(pc) ? 0 : 1;
  return all;
}

}  // namespace drywell::sim::check
