#include "sim/engine/engine.h"

#include <algorithm>

#include "sim/events/hub.h"

namespace drywell::sim {

bool is_ready(const Cluster& c, const AsyncOp& op) {
  for (uint64_t before : op.after) {
    for (const AsyncOp& p : c.pending) {
      if (p.id == before) return false;
      if (p.id > before) break;  // the queue is in issue order
    }
  }
  return true;
}

StepResult step(Cluster& c, size_t index) {
  StepResult result;
  ++c.progress;
  if (AsyncOp& op = c.pending[index]; op.stage == AsyncOp::Stage::issued) {
    result.error = std::visit([&](auto& payload) { return read_operands(c, op, payload); }, op.payload);
    op.stage = AsyncOp::Stage::read;
    if (auto* o = c.launch->observers; o != nullptr) o->async(c, op, AsyncMoment::read);
    return result;
  }
  // The operation is moved out of the queue while it runs: a write may add operations to the queue.
  AsyncOp op = std::move(c.pending[index]);
  if (auto* o = c.launch->observers; o != nullptr) o->async(c, op, AsyncMoment::write);
  result.error = std::visit([&](auto& payload) { return write_result(c, op, payload); }, op.payload);
  if (auto* o = c.launch->observers; o != nullptr) o->async(c, op, AsyncMoment::signal);
  result.completed = true;
  c.pending.erase(std::find_if(c.pending.begin(), c.pending.end(), [&](const AsyncOp& p) { return p.id == op.id; }));
  if (op.id < c.cluster_ordered && is_for_the_cluster(op)) c.wake_all();  // warps may wait for it at barrier.cluster
  return result;
}

StepResult run_to_end(Cluster& c, size_t index) {
  StepResult r;
  while (!r.completed && !r.error.has_value()) r = step(c, index);
  return r;
}

uint8_t* shared_bytes(Cluster& c, uint32_t address, uint64_t bytes) {
  const uint32_t rank = shared_rank(address);
  if (rank >= c.ctas.size() || !c.cta(rank).smem.contains(shared_offset(address), bytes)) return nullptr;
  return c.cta(rank).smem.data() + shared_offset(address);
}

namespace {

ThreadGroups::Group* find_group(Cluster& c, const Issuer& who, uint32_t serial, bool bulk) {
  Warp& w = c.cta(who.cta).warps[who.warp];
  ThreadGroups* t = find_groups(bulk ? w.bulk_groups : w.async_groups, who.lane);
  if (t == nullptr) return nullptr;
  const auto found = std::find_if(t->groups.begin(), t->groups.end(), [serial](const ThreadGroups::Group& g) { return g.serial == serial; });
  return found == t->groups.end() ? nullptr : &*found;
}

}  // namespace

void group_read_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk) {
  if (auto* g = find_group(c, who, serial, bulk); g != nullptr && g->reads != 0) --g->reads;
  c.wake(c.cta(who.cta));
}

void group_write_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk) {
  if (auto* g = find_group(c, who, serial, bulk); g != nullptr && g->writes != 0) --g->writes;
  c.wake(c.cta(who.cta));
}

// A commit only signals; the operations it depends on have completed when it becomes ready.
EngineResult read_operands(Cluster&, AsyncOp&, Commit&) { return std::nullopt; }
EngineResult write_result(Cluster& c, AsyncOp&, Commit& p) {
  if (p.multicast == 0) return apply_mbarrier(c, p.mbar, MbarrierOp::arrive, 1);
  for (uint32_t r = 0; r < 16; ++r) {
    if ((p.multicast >> r & 1) == 0) continue;
    if (auto e = apply_mbarrier(c, cluster_address(r, shared_offset(p.mbar)), MbarrierOp::arrive, 1); e.has_value()) return e;
  }
  return std::nullopt;
}

EngineResult read_operands(Cluster&, AsyncOp&, RemoteArrive&) { return std::nullopt; }
EngineResult write_result(Cluster& c, AsyncOp&, RemoteArrive& p) { return apply_mbarrier(c, p.mbar, p.what, p.amount); }

}  // namespace drywell::sim
