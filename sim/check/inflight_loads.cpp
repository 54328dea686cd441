#include "sim/check/inflight_loads.h"

#include <algorithm>
#include <set>
#include <utility>


namespace drywell::sim::check {
namespace {

bool loads(const DecodedOp& op) { return isa::spec(op.opcode).completion == isa::Completion::wait_ld; }

/// The registers that loads from tensor memory write, by function.
std::set<std::pair<uint32_t, uint32_t>> loaded_registers(const Program& p) {
  std::set<std::pair<uint32_t, uint32_t>> all;
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    if (!loads(p.code[pc])) continue;
    const Program::RegUse& use = p.reg_use[pc];
    for (uint32_t i = 0; i < use.writes; ++i) all.emplace(p.code[pc].function, p.reg_lists[use.first + use.reads + i]);
  }
  return all;
}

/// The places where a load may be in flight: forwards from each, along all branches, to the next wait. With calls: everywhere.
std::vector<uint8_t> in_flight(const Program& p) {
  std::vector<uint8_t> at(p.code.size(), p.functions.size() > 1 ? 1 : 0);
  std::vector<size_t> open;
  const auto reach = [&](size_t pc) {
    if (pc < at.size() && std::exchange(at[pc], uint8_t{1}) == 0) open.push_back(pc);
  };
  for (size_t pc = 0; pc < p.code.size(); ++pc) if (loads(p.code[pc])) reach(pc + 1);
  while (!open.empty()) {
    const size_t pc = open.back();
    open.pop_back();
    const DecodedOp& op = p.code[pc];
    if (op.sync == isa::SyncRole::tmem_load_wait && op.guard.index == 0) continue;
    reach(pc + 1);
    for (const uint32_t target : branch_targets(p, op)) reach(target);
  }
  return at;
}

}  // namespace

std::vector<uint8_t> uses_of_loads(const Program& p) {
  const std::set<std::pair<uint32_t, uint32_t>> registers = loaded_registers(p);
  std::vector<uint8_t> uses = in_flight(p);
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const Program::RegUse& use = p.reg_use[pc];
    const uint32_t* at = p.reg_lists.data() + use.first;
    if (uses[pc] != 0 && std::none_of(at, at + use.reads, [&](uint32_t r) { return registers.contains({p.code[pc].function, r}); })) uses[pc] = 0;
  }
  return uses;
}

}  // namespace drywell::sim::check
