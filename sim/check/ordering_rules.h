// Is what an access does after an earlier one ordered after it? Pure functions of two accesses and what the later one's thread
// knows; docs/facts/tma-mbarrier.md §3.3, docs/facts/tcgen05.md §7.2.
#pragma once

#include "sim/check/access.h"
#include "sim/check/rules.h"

namespace drywell::sim::check {

/// `prior` is the last writer of the bytes, or a reader since then if `now` writes.
Rule judge_shared(const Access& prior, const Access& now, const WarpClock& who);
Rule judge_tensor(const Access& prior, const Access& now, const WarpClock& who);
/// `opaque`: CTAs of the launch may synchronise through global memory in ways not followed.
Rule judge_global(const Access& prior, const Access& now, const WarpClock& who, bool opaque);
/// Two accesses of different clusters, and what the warps of each knew of other clusters then.
Rule judge_far(const Access& one, const Far& one_knew, const Access& other, const Far& other_knew);

/// What a party does, for messages.
const char* verb_of(const Access& a, bool earlier);

}  // namespace drywell::sim::check
