#include "sim/check/untested_waits.h"

#include "sim/check/value_flow.h"

namespace drywell::sim::check {
namespace {

/// Values that leave the registers may be tested anywhere.
bool escapes(const DecodedOp& op) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  return row.memory == isa::MemoryRole::store || row.flow == isa::Flow::call || row.flow == isa::Flow::return_;
}

/// Whether something behind the wait tests its answer, or the program is too large to decide.
bool tested(const Program& p, const PredicateUse& predicates, size_t& budget, size_t wait) {
  ValueFlow flow(p, predicates, budget);
  const auto tests = [&](size_t pc, ValueFlow::Use use) { return use.guard || escapes(p.code[pc]); };
  return flow.follow(wait + 1, {{true, p.code[wait].dst}}, tests) != ValueFlow::End::exhausted;
}

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
  for (const size_t pc : waits) all[pc] = tested(p, predicates, steps, pc) ? 0 : 1;
  return all;
}

}  // namespace drywell::sim::check
