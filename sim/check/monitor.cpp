#include "sim/check/monitor.h"

#include <algorithm>

#include "drywell/isa/spec.h"

namespace drywell::sim::check {

using isa::SyncRole;

namespace {

bool is_fragment(isa::MemoryRole r) { return r == isa::MemoryRole::fragment_load || r == isa::MemoryRole::fragment_store; }
bool has_members(const isa::InstrSpec& row) { return std::any_of(row.operands.begin(), row.operands.end(), names_members); }

}  // namespace

void ClusterMonitor::meet(ClusterMonitor& m, const Warp& w, const DecodedOp& op, LaneMask mask) {
  m.convergence_.members(w, op, mask);
  m.barriers_.warp(w, op, mask);
}

Reaction::Handler ClusterMonitor::handler_of(const isa::InstrSpec& row, bool full) {
  using M = ClusterMonitor;
  switch (row.sync) {
    case SyncRole::mbarrier_init:
    case SyncRole::mbarrier_inval:
    case SyncRole::mbarrier_arrive:
    case SyncRole::mbarrier_count:
      return apply<&M::mbarriers_, &MbarrierUse::instruction>;
    case SyncRole::mbarrier_wait: return apply<&M::mbarriers_, &MbarrierUse::wait>;
    case SyncRole::cta_barrier: return apply<&M::barriers_, &ThreadBarriers::named>;
    case SyncRole::cluster_arrive: return apply<&M::barriers_, &ThreadBarriers::arrive_at_cluster>;
    case SyncRole::cluster_wait: return apply<&M::barriers_, &ThreadBarriers::leave_cluster>;
    case SyncRole::warp_barrier: return meet;
    case SyncRole::thread_fence: return apply<&M::fences_, &Fences::threads>;
    case SyncRole::mbarrier_init_fence: return apply<&M::fences_, &Fences::mbarrier_init>;
    case SyncRole::async_proxy_fence: return apply<&M::fences_, &Fences::async_proxy>;
    case SyncRole::async_generic_fence: return apply<&M::fences_, &Fences::async_generic>;
    case SyncRole::tensor_fence_before: return apply<&M::fences_, &Fences::tensor_before>;
    case SyncRole::tensor_fence_after: return apply<&M::fences_, &Fences::tensor_after>;
    case SyncRole::tmem_load_wait: return apply<&M::waits_, &GroupWaits::tensor_loads>;
    case SyncRole::tmem_store_wait: return apply<&M::waits_, &GroupWaits::tensor_stores>;
    case SyncRole::tmem_alloc: return apply<&M::allocation_, &TensorAllocation::allocate>;
    case SyncRole::tmem_dealloc: return apply<&M::allocation_, &TensorAllocation::free>;
    case SyncRole::tensor_commit: return apply<&M::convergence_, &Convergence::commit>;
    case SyncRole::tensor_product: return apply<&M::convergence_, &Convergence::product>;
    case SyncRole::register_pool: return apply<&M::convergence_, &Convergence::set_registers>;
    case SyncRole::grid_dependency: return apply<&M::waits_, &GroupWaits::grids>;
    case SyncRole::map_edit: return full ? apply<&M::maps_, &MapEdits::edit> : nullptr;
    case SyncRole::map_copy: return full ? apply<&M::maps_, &MapEdits::copy> : nullptr;
    case SyncRole::map_release: return full ? apply<&M::maps_, &MapEdits::release> : nullptr;
    case SyncRole::map_acquire: return full ? apply<&M::maps_, &MapEdits::acquire> : nullptr;
    case SyncRole::bulk_commit: return apply<&M::waits_, &GroupWaits::commit_bulk>;
    case SyncRole::bulk_wait: return apply<&M::waits_, &GroupWaits::wait_bulk>;
    case SyncRole::copy_commit: return apply<&M::waits_, &GroupWaits::commit_copies>;
    case SyncRole::copy_wait: return apply<&M::waits_, &GroupWaits::wait_copies>;
    case SyncRole::copy_wait_all: return apply<&M::waits_, &GroupWaits::wait_all_copies>;
    case SyncRole::product_fence: return apply<&M::registers_, &RegisterUse::fence_products>;
    case SyncRole::product_commit: return apply<&M::waits_, &GroupWaits::commit_products>;
    case SyncRole::product_wait: return apply<&M::waits_, &GroupWaits::wait_products>;
    // The barrier itself announces arrivals (named_barrier, async); the others order nothing that the checker follows.
    case SyncRole::none:
      if (full && is_fragment(row.memory)) return apply<&M::accesses_, &MemoryAccesses::fragments>;
      if (full && row.memory == isa::MemoryRole::fill) return apply<&M::accesses_, &MemoryAccesses::fill>;
      return has_members(row) ? apply<&M::convergence_, &Convergence::members> : nullptr;
    case SyncRole::cta_barrier_arrive:
    case SyncRole::copy_arrive:
    case SyncRole::alias_fence:
    case SyncRole::tmem_relinquish: return nullptr;
  }
  return nullptr;
}

ClusterMonitor::ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known)
    : launch_(launch),
      parts_(c, launch),
      async_(parts_, std::move(known)),
      mbarriers_(parts_),
      barriers_(parts_),
      fences_(parts_),
      waits_(parts_),
      accesses_(parts_),
      allocation_(parts_),
      maps_(parts_, accesses_),
      registers_(parts_),
      convergence_(parts_),
      running_ctas_(c.ctas.size()) {}

void ClusterMonitor::instruction(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Reaction& r = launch_.reactions[launch_.pc_of(op)];
  // All lanes have come here: what they did before is done when one of them arrives for all, on silicon.
  if (op.aligned && (w.alive & ~mask) == 0) parts_.state_of(w).clock.join_lanes();
  if (r.takes_loaded) registers_.take_loaded(w, op, mask);
  if (r.takes_fragments) registers_.take_fragments(w, op, mask);
  if (launch_.follows_registers()) registers_.follow(w, op, mask);
  if (r.handle != nullptr) r.handle(*this, w, op, mask);
}

// Called in the middle of an instruction, or while an operation writes and signals.
void ClusterMonitor::mbarrier(const Cta& cta, uint32_t offset, MbarrierEvent what, int64_t amount) {
  const uint32_t address = cluster_address(cta.rank, offset);
  if (what != MbarrierEvent::wait_true && !async_.signal(address, what, amount)) mbarriers_.event(address, what, amount);
}

void ClusterMonitor::finish(const Cta& cta) {
  parts_.lifetimes.finish(cta.rank, *launch_.program);
  parts_.mbarriers.finish(cta);
  convergence_.finish(cta);
  mbarriers_.finish(cta);
  if (--running_ctas_ == 0) seal();
}

void ClusterMonitor::seal() {
  parts_.warps.clear();
  parts_.mbarriers.clear();
  parts_.memory.clear();
  parts_.lifetimes.clear();
  parts_.flags.clear();
  async_.clear();
}

}  // namespace drywell::sim::check
