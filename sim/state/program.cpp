#include "sim/state/program.h"

namespace drywell::sim {

std::span<const uint32_t> branch_targets(const Program& p, const DecodedOp& op) {
  if (op.flow != isa::Flow::branch) return {};
  if (op.extra == 0) return {&op.target, 1};
  return std::span(p.targets).subspan(op.vec, op.extra);
}

}  // namespace drywell::sim
