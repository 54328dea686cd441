#include "sim/state/program.h"

#include <fmt/format.h>

#include "drywell/core/error.h"

namespace drywell::sim {

void wrong_payload(PayloadKind there, PayloadKind asked) {
  throw InternalError(fmt::format("payload {} of an operation read as {}", static_cast<int>(there), static_cast<int>(asked)));
}

std::span<const uint32_t> branch_targets(const Program& p, const DecodedOp& op) {
  if (op.flow != isa::Flow::branch) return {};
  if (op.extra == 0) return {&op.target, 1};
  return std::span(p.targets).subspan(op.vec, op.extra);
}

}  // namespace drywell::sim
