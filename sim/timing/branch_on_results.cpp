#include "sim/timing/branch_on_results.h"

#include <algorithm>
#include <vector>

namespace drywell::sim {

std::optional<uint32_t> branch_on_results(const TimedProgram& program) {
  std::vector<bool> result(program.slot_count, false);
  for (bool grew = true; grew;) {
    grew = false;
    for (const OpInfo& x : program.ops) {
      const uint32_t *reads = program.slots.data() + x.first, *writes = reads + x.reads;
      const bool source = x.timing == isa::TimingClass::tmem_ld || x.timing == isa::TimingClass::wgmma;
      const bool from_memory = x.kind == OpKind::memory || x.timing == isa::TimingClass::ld_param;
      if (!source && (from_memory || std::none_of(reads, writes, [&](uint32_t r) { return result[r]; }))) continue;
      for (const uint32_t* w = writes; w != writes + x.writes; ++w) {
        grew = grew || !result[*w];
        result[*w] = true;
      }
    }
  }
  for (const OpInfo& x : program.ops) {
    if ((x.kind == OpKind::branch || x.kind == OpKind::exit) && x.guard != ~0u && result[x.guard]) return x.line;
  }
  return std::nullopt;
}

}  // namespace drywell::sim
