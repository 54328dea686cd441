#include "sim/check/wait_roles.h"

#include <algorithm>

#include "drywell/isa/spec.h"

namespace drywell::sim::check {
namespace {

using isa::Completion;
using isa::MemoryRole;
using isa::SyncRole;

constexpr uint32_t kMostInstructions = 500;

bool in_shared(const Program& p, uint32_t pc) {
  const isa::Mod space = p.instruction(p.code[pc]).mod(isa::Slot::space);
  return space == isa::Mod::shared || space == isa::Mod::shared_cta || space == isa::Mod::shared_cluster;
}

WaitRole role_of(const Program& p, uint32_t pc) {
  const isa::InstrSpec& row = isa::spec(p.code[pc].opcode);
  if (row.sync == SyncRole::mbarrier_count || row.completion == Completion::async_group) return WaitRole::fills;
  if (row.completion == Completion::mbarrier && row.sync == SyncRole::none) return WaitRole::fills;
  if (row.memory == MemoryRole::matrix_store || (row.memory == MemoryRole::store && in_shared(p, pc))) return WaitRole::fills;
  if (row.completion == Completion::wait_ld || row.completion == Completion::wgmma_group || row.sync == SyncRole::tensor_product) return WaitRole::uses;
  return row.memory == MemoryRole::matrix_load || (row.memory == MemoryRole::load && in_shared(p, pc)) ? WaitRole::uses : WaitRole::unknown;
}

bool ends_search(const DecodedOp& op) {
  return op.sync == SyncRole::mbarrier_wait || op.sync == SyncRole::cta_barrier || op.sync == SyncRole::cluster_wait || op.flow == isa::Flow::return_ || op.flow == isa::Flow::end;
}

// Jumps forward are followed; those back belong to the wait's own loop.
uint32_t next_of(const Program& p, uint32_t pc) {
  const auto targets = branch_targets(p, p.code[pc]);
  return p.code[pc].guard.index == 0 && targets.size() == 1 && targets[0] > pc ? targets[0] : pc + 1;
}

}  // namespace

WaitRole role_of_wait(const Program& p, uint32_t wait) {
  uint32_t pc = wait + 1;
  for (uint32_t i = 0; i < kMostInstructions && pc < p.code.size() && !ends_search(p.code[pc]); ++i) {
    if (const WaitRole role = role_of(p, pc); role != WaitRole::unknown) return role;
    pc = next_of(p, pc);
  }
  return WaitRole::unknown;
}

}  // namespace drywell::sim::check
