// What a launch waits for that a bound has ended: warps that go round a loop and read memory or ask an mbarrier, the places that they read, and what is there.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/fault.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// A line for each group of warps that polls one place, or waits; empty if no warp polls. `clusters`: those that have not ended.
std::string describe_spins(const std::vector<const Cluster*>& clusters);
/// The same of one warp, without the line break ahead.
std::string describe_spins(const Warp& w);
/// F3601: nothing of the launch can end the waits of these clusters, of which none is in a deadlock by itself.
Fault grid_deadlock_of(const std::vector<const Cluster*>& clusters);
/// The fault of a bound, with describe_spins behind its message.
Fault with_spins(Fault f, const std::vector<const Cluster*>& clusters);

}  // namespace drywell::sim
