// Local memory: which of it a lane has written, and what loads bring from the rest (H7507).
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// An access, about to be executed by `mask`; lanes that access other memory are left out.
void follow_local(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);

/// Whether the instruction accesses parameters, which have places in local memory.
bool names_param(const Program& p, const DecodedOp& op);

}  // namespace drywell::sim::check
