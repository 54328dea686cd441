// Uses of values that came from no lane, or that nothing has written (absent_values.h): as an address, in memory, as the condition of a branch.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

/// The rule of a use of what has no value, by the agent of the access that found it so.
Rule rule_of_origin(Agent a);
/// Lanes of a store, not executed yet, that have one address in shared memory store different values there.
void note_contested(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask lanes);
/// Whether the lane's place is in shared memory.
bool stores_shared(const Warp& w, const DecodedOp& op, uint32_t lane, Space space);

/// A register without a value is read, by an instruction that is about to be executed or has been: it is marked, as what is made of it will be.
void mark_unwritten(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);
/// Whether the checker marks what a load, store or atomic of that space reads, instead of reporting it.
bool marks_memory(const DecodedOp& op, Space space);
/// Stores to shared memory: values that nothing has made are there from now on.
void note_shared_store(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);
/// Whether what the load brings from shared memory that nothing has written is marked.
bool marks_loaded(const Program& p, const DecodedOp& op);
/// A load of shared memory, part of which nothing has written: the registers that it will bring from there.
void note_shared_load(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);
/// An instruction that is neither a computation nor an access of memory has taken values that nothing has written.
void check_absent_use(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, const AbsentMarks& m);
/// A load, store or atomic of that space, about to be executed by `mask`.
void check_absent_operands(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space);
/// The guard decides whether a store or an atomic is performed; it may have excluded all lanes.
void check_absent_guard(ClusterParts& parts, const Warp& w, const DecodedOp& op);
/// Any instruction that `mask` has executed, or whose guard excluded all of `mask`.
void check_absent_branch(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask);

}  // namespace drywell::sim::check
