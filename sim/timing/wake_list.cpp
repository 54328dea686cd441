#include "sim/timing/wake_list.h"

#include <algorithm>
#include <optional>

namespace drywell::sim {
namespace {

// Whether a blocked warp's condition is met. Reasons without a cheap test return true: the retry tests them.
bool condition_met(const Warp& w) {
  const BlockInfo& b = w.block;
  if (!w.waiting.empty()) return true;
  switch (b.reason) {
    case BlockReason::mbarrier: {
      const Mbarrier* m = w.cta->cluster->cta(shared_rank(b.address)).smem.find_mbarrier(shared_offset(b.address));
      return m == nullptr || !m->live || m->parity_done(b.parity);
    }
    case BlockReason::named_barrier: {
      const NamedBarrier& n = w.cta->barriers[b.address & 15];
      return n.generation != w.barrier_generation || everyone_arrived(*w.cta, n);  // warps may have exited since the last arrival
    }
    case BlockReason::tmem_ld: return w.pending_ld == 0;
    case BlockReason::tmem_st: return w.pending_st == 0;
    default: return true;
  }
}

}  // namespace

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

WakeTimes thread_wake(const ArchConfig& arch, Time t) {
  const auto visible = t + static_cast<Time>(arch.mbarrier.arrive_visible);
  return {visible + static_cast<Time>(arch.mbarrier.wake), t + 1, t + 1};
}

WakeTimes async_wake(const ArchConfig& arch, Time t) { return {t + static_cast<Time>(arch.mbarrier.wake), t + 1, t}; }

void WakeList::reset(const Cluster& cluster) {
  *this = {};
  cluster_ = &cluster;
  for (const auto& cta : cluster.ctas) seen_.push_back(cta->wake_epoch);
}

bool WakeList::holds(uint32_t id) const {
  return std::any_of(blocked_.begin(), blocked_.end(), [&](const Blocked& b) { return b.id == id; });
}

void WakeList::remove(uint32_t id) {
  const auto it = std::find_if(blocked_.begin(), blocked_.end(), [&](const Blocked& b) { return b.id == id; });
  *it = blocked_.back();
  blocked_.pop_back();
}

// Removes and returns the warps for which `when` returns a cycle.
template <class When>
const std::vector<WakeList::Wake>& WakeList::take(When&& when) {
  woken_.clear();
  for (size_t i = 0; i < blocked_.size();) {
    const std::optional<Time> at = when(*blocked_[i].warp);
    if (!at.has_value()) {
      ++i;
      continue;
    }
    woken_.push_back({blocked_[i].id, *at});
    blocked_[i] = blocked_.back();
    blocked_.pop_back();
  }
  return woken_;
}

bool WakeList::anything_new() {
  bool changed = false;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const uint64_t epoch = cluster_->ctas[i]->wake_epoch;
    changed = changed || epoch != seen_[i];
    seen_[i] = epoch;
  }
  return changed;
}

Time WakeList::time_of(const Warp& w, const WakeTimes& at) const {
  switch (w.block.reason) {
    case BlockReason::mbarrier: return at.mbarrier;
    case BlockReason::named_barrier: return at.barrier;
    case BlockReason::cluster_barrier: return std::max(at.other, release_);
    default: return at.other;
  }
}

const std::vector<WakeList::Wake>& WakeList::changed(const WakeTimes& at) {
  woken_.clear();
  if (!anything_new()) return woken_;
  return take([&](const Warp& w) { return condition_met(w) ? std::optional(time_of(w, at)) : std::nullopt; });
}

const std::vector<WakeList::Wake>& WakeList::allocators(Time at) {
  return take([&](const Warp& w) { return w.block.reason == BlockReason::tmem_alloc ? std::optional(at) : std::nullopt; });
}

Time WakeList::cluster_barrier(uint64_t instances, Time release) {
  if (instances != instances_) {
    instances_ = instances;
    release_ = release;
  }
  return release_;
}

}  // namespace drywell::sim
