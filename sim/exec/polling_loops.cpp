#include "sim/exec/polling_loops.h"

#include <algorithm>

#include "drywell/isa/strong.h"
#include "sim/state/payload/call.h"

namespace drywell::sim {
namespace {

using isa::Flow;
using isa::MemoryRole;
using isa::Mod;
using isa::SyncRole;

bool orders_only(SyncRole s) {
  return s == SyncRole::none || s == SyncRole::cta_barrier || s == SyncRole::warp_barrier || s == SyncRole::thread_fence;
}

/// True if the instruction changes registers only. An atomic operation counts as one that does: most of those in a loop that waits fail.
bool only_looks(const isa::InstrSpec& row) {
  const bool memory = row.memory == MemoryRole::none || row.memory == MemoryRole::load || row.memory == MemoryRole::atomic;
  return memory && row.flow != Flow::call && row.completion == isa::Completion::sync && orders_only(row.sync);
}

/// True if the instruction may read a word that another thread writes meanwhile.
bool polls(const isa::InstrSpec& row, const isa::Instruction& i) {
  const bool strong = row.memory == MemoryRole::atomic || (row.memory == MemoryRole::load && isa::is_uncached(i));
  return strong && i.mod(isa::Slot::space) != Mod::local;
}

/// Sums of all instructions before a pc.
struct Counts {
  uint32_t changes = 0, polls = 0;
};
std::vector<Counts> counts_of(const Program& p) {
  std::vector<Counts> all(p.code.size() + 1);
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const isa::InstrSpec& row = isa::spec(p.code[pc].opcode);
    const bool polling = row.memory != MemoryRole::none && polls(row, p.instruction(p.code[pc]));
    all[pc + 1] = {all[pc].changes + (only_looks(row) ? 0 : 1), all[pc].polls + (polling ? 1 : 0)};
  }
  return all;
}

/// What instructions do.
struct Effects {
  bool changes = false, polls = false, calls = false;
  void add(const Effects& o) {
    changes = changes || o.changes;
    polls = polls || o.polls;
  }
};

/// What instructions do, with the functions that they call.
class CalledEffects {
 public:
  explicit CalledEffects(const Program& p) : p_(p), of_(p.functions.size()), known_(p.functions.size()) {}
  Effects of(uint32_t pc) {
    const isa::InstrSpec& row = isa::spec(p_.code[pc].opcode);
    if (row.flow == Flow::call) return of_call(p_.code[pc].get_if<payload::Call>());
    const bool memory = row.memory != MemoryRole::none;
    const isa::Instruction* const i = memory ? &p_.instruction(p_.code[pc]) : nullptr;
    const bool weak_store = row.memory == MemoryRole::store && row.completion == isa::Completion::sync && !isa::is_strong(*i);
    return {!only_looks(row) && !weak_store, memory && polls(row, *i)};
  }

 private:
  // `call`: nullptr where the module does not define the function.
  Effects of_call(const payload::Call* call) {
    const CallSite* const site = call == nullptr ? nullptr : &p_.calls[call->site];
    if (site == nullptr || site->callee == CallSite::kIndirect || site->builtin != Builtin::none) return {true, false, true};
    Effects e = of_function(site->callee);
    e.calls = true;
    return e;
  }
  // A function that calls itself counts as one that changes memory.
  const Effects& of_function(uint32_t f) {
    if (known_[f]) return of_[f];
    known_[f] = true;
    of_[f].changes = true;
    Effects all;
    const uint32_t end = f + 1 < p_.functions.size() ? p_.functions[f + 1].first : static_cast<uint32_t>(p_.code.size());
    for (uint32_t pc = p_.functions[f].first; pc < end; ++pc) all.add(of(pc));
    return of_[f] = all;
  }

  const Program& p_;
  std::vector<Effects> of_;
  std::vector<bool> known_;
};

/// Marks what lies between a branch and an earlier target of it, where something polls and nothing changes memory.
std::vector<bool> inside_loops(const Program& p, const std::vector<Counts>& before) {
  std::vector<int> edges(p.code.size() + 1);  // loops that begin at a pc, less those that end before it
  for (uint32_t pc = 0; pc < p.code.size(); ++pc) {
    for (const uint32_t target : branch_targets(p, p.code[pc])) {
      if (target > pc || before[pc + 1].changes != before[target].changes || before[pc + 1].polls == before[target].polls) continue;
      ++edges[target];
      --edges[pc + 1];
    }
  }
  std::vector<bool> inside(p.code.size());
  int open = 0;
  for (size_t pc = 0; pc < inside.size(); ++pc) inside[pc] = (open += edges[pc]) > 0;
  return std::find(inside.begin(), inside.end(), true) == inside.end() ? std::vector<bool>() : inside;
}

}  // namespace

std::vector<bool> loops_that_may_poll(const Program& p) {
  if (p.functions.size() < 2) return {};
  CalledEffects effects(p);
  std::vector<Counts> before(p.code.size() + 1);
  for (uint32_t pc = 0; pc < p.code.size(); ++pc) {
    const Effects e = p.code[pc].instr < p.function_of(p.code[pc]).body.size() ? effects.of(pc) : Effects{};
    before[pc + 1] = {before[pc].changes + (e.changes ? 1 : 0), before[pc].polls + (e.calls && e.polls ? 1 : 0)};
  }
  return inside_loops(p, before);
}

std::vector<bool> polling_loops(const Program& p) {
  const std::vector<Counts> before = counts_of(p);
  if (before.back().polls == 0) return {};
  return inside_loops(p, before);
}

}  // namespace drywell::sim
