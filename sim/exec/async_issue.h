// Issue of asynchronous operations, and the order that PTX guarantees between them.
#pragma once

#include <utility>

#include "sim/exec/exec.h"

namespace drywell::sim {

/// Puts an operation into its cluster's queue. The caller fills `after`, the operations that precede it (docs/facts/tcgen05.md §7.2).
template <class P>
AsyncOp& issue(Warp& w, uint32_t lane, P payload) {
  Cluster& c = *w.cta->cluster;
  AsyncOp op;
  op.id = c.next_op++;
  op.issuer = {w.cta->rank, w.index, lane, w.pc};
  op.payload.template emplace<P>(std::move(payload));
  c.pending.push_back(std::move(op));
  return c.pending.back();
}

/// Adds to `op.after` every pending tcgen05 operation that pipelines before `op`.
void order_after_pending(Cluster& c, AsyncOp& op);

/// Returns the open bulk group (or cp.async group) of a thread; creates it on first use.
ThreadGroups& groups_of(std::vector<ThreadGroups>& all, uint32_t lane);
/// Adds one operation to the thread's uncommitted group; returns the group's serial.
uint32_t join_group(std::vector<ThreadGroups>& all, uint32_t lane);

/// Closes the open group of each lane.
void commit_groups(std::vector<ThreadGroups>& all, LaneMask mask);
/// The condition of a wait for groups: the source operands have been read (reads), or the operations are complete (writes).
enum class GroupWork : uint8_t {
  writes,
  reads
};
/// True if no lane has more than `allowed` committed groups with such work in flight. Removes the groups that are complete.
bool groups_complete(std::vector<ThreadGroups>& all, LaneMask mask, uint64_t allowed, GroupWork work = GroupWork::writes);

}  // namespace drywell::sim
