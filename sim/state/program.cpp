#include "sim/state/program.h"

#include <fmt/format.h>

#include "drywell/core/error.h"
#include "sim/state/payload/branch.h"

namespace drywell::sim {

void wrong_payload(PayloadKind there, PayloadKind asked) {
  throw InternalError(fmt::format("payload {} of an operation read as {}", static_cast<int>(there), static_cast<int>(asked)));
}

std::span<const uint32_t> branch_targets(const Program& p, const DecodedOp& op) {
  if (const auto* b = op.get_if<payload::Branch>(); b != nullptr) return {&b->target, 1};
  const auto* list = op.get_if<payload::IndexedBranch>();
  return list != nullptr ? std::span(p.targets).subspan(list->first, list->count) : std::span<const uint32_t>();
}

}  // namespace drywell::sim
