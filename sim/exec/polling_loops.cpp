#include "sim/exec/polling_loops.h"

#include <algorithm>

#include "drywell/isa/strong.h"

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
  const bool strong = row.memory == MemoryRole::atomic || (row.memory == MemoryRole::load && (isa::is_strong(i) || i.has(Mod::cv)));
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

}  // namespace

std::vector<bool> polling_loops(const Program& p) {
  const std::vector<Counts> before = counts_of(p);
  if (before.back().polls == 0) return {};
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

}  // namespace drywell::sim
