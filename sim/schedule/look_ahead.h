// The operands of an instruction that a spinning warp will come to: registers share places (sim/exec/register_sharing.h), so that one which a loop writes
// has its value only until its last use.
#pragma once

#include <optional>

#include "sim/state/cta.h"

namespace drywell::sim {

/// The lanes of a group as they are when some of them come to `pc`. They execute only instructions that change nothing but registers, and no observer
/// sees these; nothing if another one is on the way, or the way is long. The cluster is not changed; nobody else may use it meanwhile.
std::optional<Warp> look_ahead(const Warp& w, const LaneGroup& group, uint32_t pc);

}  // namespace drywell::sim
