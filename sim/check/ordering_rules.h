// Whether an access is ordered after an earlier one. Pure functions of two accesses and the clock of the later one's thread;
// docs/facts/tma-mbarrier.md §3.3, docs/facts/tcgen05.md §7.2.
#pragma once

#include "sim/check/access.h"
#include "sim/check/rules.h"

namespace drywell::sim::check {

/// `prior` is the last writer of the bytes, or a reader since then if `now` writes.
Rule shared_hazard(const Access& prior, const Access& now, const WarpClock& who);
Rule tensor_hazard(const Access& prior, const Access& now, const WarpClock& who);
/// `opaque`: CTAs of the launch may synchronise through global memory in ways that the checker does not follow.
Rule global_hazard(const Access& prior, const Access& now, const WarpClock& who, bool opaque);
/// Two accesses of different clusters, and each warp's clock of other clusters at its access.
Rule cross_cluster_rule(const Access& one, const CrossClusterKnowledge& one_knew, const Access& other, const CrossClusterKnowledge& other_knew);

/// The verb for a party's access, for messages.
const char* verb_of(const Access& a, bool earlier);

}  // namespace drywell::sim::check
