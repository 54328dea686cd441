#include "sim/check/inflight_loads.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "drywell/isa/spec.h"
#include "sim/check/product_registers.h"

namespace drywell::sim::check {
namespace {

bool loads(const DecodedOp& op) { return isa::spec(op.opcode).completion == isa::Completion::wait_ld; }

using Register = std::pair<uint32_t, uint32_t>;  // function, offset in its frame

/// The registers that loads from tensor memory write.
std::set<Register> loaded_registers(const Program& p) {
  std::set<Register> all;
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    if (!loads(p.code[pc])) continue;
    const Program::RegUse& use = p.reg_use[pc];
    for (uint32_t i = 0; i < use.writes; ++i) all.emplace(p.code[pc].function, p.reg_lists[use.first + use.reads + i]);
  }
  return all;
}

/// Registers that, at some place where a load may be in flight, are made copies of `loaded` or of such copies.
std::set<Register> copies_of(const Program& p, const std::set<Register>& loaded, const std::vector<uint8_t>& places) {
  std::set<Register> copies;
  for (size_t before = 1; before != copies.size();) {
    before = copies.size();
    for (size_t pc = 0; pc < p.code.size(); ++pc) {
      const uint32_t f = p.code[pc].function;
      const auto c = places[pc] != 0 ? copy_of(p, pc) : std::nullopt;
      if (c && c->from != c->to && (loaded.contains({f, c->from}) || copies.contains({f, c->from}))) copies.emplace(f, c->to);
    }
  }
  return copies;
}

/// The places where a load may be in flight: forwards from each, along all branches, to the next wait. With calls: everywhere.
std::vector<uint8_t> in_flight(const Program& p) {
  std::vector<uint8_t> at(p.code.size(), p.functions.size() > 1 ? 1 : 0);
  std::vector<size_t> open;
  const auto reach = [&](size_t pc) {
    if (pc < at.size() && std::exchange(at[pc], uint8_t{1}) == 0) open.push_back(pc);
  };
  for (size_t pc = 0; pc < p.code.size(); ++pc)
    if (loads(p.code[pc])) reach(pc + 1);
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
  const std::set<Register> registers = loaded_registers(p);
  if (registers.empty()) return std::vector<uint8_t>(p.code.size());
  std::vector<uint8_t> uses = in_flight(p);
  const std::set<Register> copies = copies_of(p, registers, uses);
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const Program::RegUse& use = p.reg_use[pc];
    const uint32_t* at = p.reg_lists.data() + use.first;
    const uint32_t f = p.code[pc].function;
    const bool reads = std::any_of(at, at + use.reads, [&](uint32_t r) { return registers.contains({f, r}) || copies.contains({f, r}); });
    const bool writes = std::any_of(at + use.reads, at + use.reads + use.writes, [&](uint32_t r) { return copies.contains({f, r}); });
    uses[pc] = uses[pc] != 0 && !loads(p.code[pc]) && (reads || writes);
  }
  return uses;
}

}  // namespace drywell::sim::check
