// Whether waiting any longer can change anything: what decides how the warps of a cluster go on.
#pragma once

#include <cstdint>

#include "sim/state/cta.h"

namespace drywell::sim {

/// Of the warps that have not ended: where their lanes stand, and their registers. A cluster in which nothing is in flight, and whose
/// suspended waits have answered false without a change of it, is in a deadlock.
uint64_t fingerprint(const Cluster& c);

/// Suspended waits that answer false in a row, with nothing but registers changing, after which a cluster counts as stuck all the same.
inline constexpr uint32_t kMostTimeOuts = 1 << 20;

}  // namespace drywell::sim
