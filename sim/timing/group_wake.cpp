// Blocking and waking: which waits an event ends, and when the warp goes on.
#include <algorithm>

#include "sim/exec/exec.h"
#include "sim/timing/group.h"

namespace drywell::sim {
namespace {

Stall stall_of(BlockReason r) {
  switch (r) {
    case BlockReason::mbarrier: return Stall::mbarrier;
    case BlockReason::named_barrier: return Stall::named_barrier;
    case BlockReason::warp_sync: return Stall::warp_sync;
    case BlockReason::cluster_barrier: return Stall::cluster_barrier;
    case BlockReason::tmem_alloc: return Stall::tmem_alloc;
    case BlockReason::tmem_ld:
    case BlockReason::tmem_st:
    case BlockReason::register_dependency: return Stall::tmem_wait;
    case BlockReason::bulk_group:
    case BlockReason::async_group:
    case BlockReason::wgmma: return Stall::bulk_wait;
    default: return Stall::sleep;
  }
}

// Whether a blocked warp would find its condition met. Reasons without a cheap test say yes: the retry finds
// out.
bool condition_met(const Warp& w) {
  const BlockInfo& b = w.block;
  Cluster& c = *w.cta->cluster;
  if (!w.waiting.empty()) return true;
  switch (b.reason) {
    case BlockReason::mbarrier: {
      const Mbarrier* m = c.cta(shared_rank(b.address)).smem.find_mbarrier(shared_offset(b.address));
      return m == nullptr || !m->live || m->parity_done(b.parity);
    }
    case BlockReason::named_barrier:
      return w.cta->barriers[b.address & 15].generation != w.barrier_generation;
    case BlockReason::tmem_ld: return w.pending_ld == 0;
    case BlockReason::tmem_st: return w.pending_st == 0;
    case BlockReason::cluster_barrier: return true;
    default: return true;
  }
}

}  // namespace

void Group::block(uint32_t warp, Time t) {
  WarpIssueState& w = *warps_[warp];
  Resident& r = residents_[w.resident];
  w.state = WarpState::blocked;
  w.wait_reason = stall_of(w.warp->block.reason);
  w.blocked_at = t;
  ++w.serial;
  r.blocked.push_back(warp);
  set_candidate(w, kNever);
  if (w.warp->block.reason == BlockReason::mbarrier && !w.time_out_queued) {
    w.time_out_queued = true;
    push(t + static_cast<Time>(arch_.mbarrier.suspend_limit), EventKind::time_out, warp);
  }
}

Group::WakeTimes Group::thread_wake(Time t) const {
  const auto visible = t + static_cast<Time>(arch_.mbarrier.arrive_visible);
  return {visible + static_cast<Time>(arch_.mbarrier.wake), t + 1, t + 1};
}

// An engine's latency figures end where the phase changes.
Group::WakeTimes Group::async_wake(Time t) const {
  return {t + static_cast<Time>(arch_.mbarrier.wake), t + 1, t};
}

void Group::wake_one(uint32_t warp, Time at) {
  WarpIssueState& w = *warps_[warp];
  ++w.serial;
  push(at, EventKind::wake, warp, w.serial);
}

void Group::wake_changed(Resident& r, const WakeTimes& at) {
  bool changed = false;
  for (size_t i = 0; i < r.seen_epoch.size(); ++i) {
    const uint64_t epoch = r.cluster->ctas[i]->wake_epoch;
    changed = changed || epoch != r.seen_epoch[i];
    r.seen_epoch[i] = epoch;
  }
  if (!changed) return;
  for (size_t i = 0; i < r.blocked.size();) {
    const uint32_t id = r.blocked[i];
    const Warp& w = *warps_[id]->warp;
    if (!condition_met(w)) {
      ++i;
      continue;
    }
    r.blocked[i] = r.blocked.back();
    r.blocked.pop_back();
    switch (w.block.reason) {
      case BlockReason::mbarrier: wake_one(id, at.mbarrier); break;
      case BlockReason::named_barrier: wake_one(id, at.barrier); break;
      case BlockReason::cluster_barrier: wake_one(id, std::max(at.other, r.cluster_release)); break;
      default: wake_one(id, at.other); break;
    }
  }
}

// Columns came free: other CTAs of the SM, or pairs with a CTA on it, may have waited for them. Who still finds none waits on.
void Group::wake_allocators(Time at) {
  for (Resident& r : residents_) {
    for (size_t i = 0; i < r.blocked.size();) {
      const uint32_t id = r.blocked[i];
      if (warps_[id]->warp->block.reason != BlockReason::tmem_alloc) {
        ++i;
        continue;
      }
      r.blocked[i] = r.blocked.back();
      r.blocked.pop_back();
      wake_one(id, at);
    }
  }
}

// A suspended try_wait that nobody woke answers false (PTX ISA 9.7.13.15.16: potentially blocking,
// time-limited).
void Group::time_out(uint32_t warp, Time t) {
  WarpIssueState& w = *warps_[warp];
  w.time_out_queued = false;
  if (w.state != WarpState::blocked || w.warp->block.reason != BlockReason::mbarrier) return;
  Resident& r = residents_[w.resident];
  const auto it = std::find(r.blocked.begin(), r.blocked.end(), warp);
  if (it == r.blocked.end()) return;  // already on its way
  const Time due = w.blocked_at + static_cast<Time>(arch_.mbarrier.suspend_limit);
  if (t < due) {
    w.time_out_queued = true;
    push(due, EventKind::time_out, warp);
    return;
  }
  *it = r.blocked.back();
  r.blocked.pop_back();
  w.warp->timed_out = true;
  execute(warp, t, true);
}

void Group::note_flip(Resident& r, uint32_t mbar, Time visible) {
  r.flips[r.next_flip++ % r.flips.size()] = {mbar, visible};
}

}  // namespace drywell::sim
