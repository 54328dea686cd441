// Addresses of .shared::cta that name another CTA (H7803).
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// The lanes use addresses of the own CTA's shared memory: reports the first one that was mapped to another CTA.
void check_own_address(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Agent agent, bool write);

}  // namespace drywell::sim::check
