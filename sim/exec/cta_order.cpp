#include "sim/exec/cta_order.h"

#include <algorithm>

#include "drywell/isa/strong.h"
#include "sim/state/payload/atomic.h"

namespace drywell::sim {
namespace {

bool reduces(const DecodedOp& op) {
  const auto* x = op.get_if<payload::Atomic>();
  return x != nullptr && x->commutes && x->space != Space::shared_cta && x->space != Space::shared_cluster;
}

// Weak loads of what other CTAs reduce meanwhile are data races.
bool looks(const Program& p, const DecodedOp& op) {
  return isa::spec(op.opcode).memory == isa::MemoryRole::load && isa::is_uncached(p.instruction(op));
}

}  // namespace

bool looks_at_reductions(const Program& p) {
  return std::any_of(p.code.begin(), p.code.end(), reduces) && std::any_of(p.code.begin(), p.code.end(), [&](const DecodedOp& op) { return looks(p, op); });
}

}  // namespace drywell::sim
