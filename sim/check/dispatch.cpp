// Executed instructions: the effect of each kind on the checker's state.
#include "drywell/isa/spec.h"
#include "sim/check/monitor.h"
#include "sim/state/payload/group_wait.h"

namespace drywell::sim::check {

using isa::SyncRole;

decltype(Reaction::handle) ClusterMonitor::handler_of(isa::SyncRole role, bool full) {
  switch (role) {
    case SyncRole::mbarrier_init: case SyncRole::mbarrier_inval: case SyncRole::mbarrier_arrive: case SyncRole::mbarrier_count: return &ClusterMonitor::barrier_events;
    case SyncRole::mbarrier_wait: return &ClusterMonitor::after_wait;
    case SyncRole::cta_barrier: return &ClusterMonitor::after_named_barrier;
    case SyncRole::cluster_arrive: case SyncRole::cluster_wait: return &ClusterMonitor::after_cluster_barrier;
    case SyncRole::warp_barrier: return &ClusterMonitor::after_warp_barrier;
    case SyncRole::thread_fence: case SyncRole::mbarrier_init_fence: case SyncRole::async_proxy_fence: case SyncRole::async_generic_fence:
    case SyncRole::tensor_fence_before: case SyncRole::tensor_fence_after: return &ClusterMonitor::fence;
    case SyncRole::tmem_load_wait: return &ClusterMonitor::after_load_wait;
    case SyncRole::tmem_store_wait: return &ClusterMonitor::after_store_wait;
    case SyncRole::tmem_alloc: case SyncRole::tmem_dealloc: return &ClusterMonitor::tensor_memory;
    case SyncRole::tensor_commit: return &ClusterMonitor::after_commit;
    case SyncRole::tensor_product: return &ClusterMonitor::one_lane;
    case SyncRole::register_pool: return &ClusterMonitor::set_registers;
    case SyncRole::grid_dependency: return &ClusterMonitor::grid_wait;
    case SyncRole::map_edit: case SyncRole::map_copy: case SyncRole::map_release: case SyncRole::map_acquire: return full ? &ClusterMonitor::edit_map : nullptr;
    case SyncRole::bulk_commit: case SyncRole::bulk_wait: return &ClusterMonitor::after_bulk_group;
    case SyncRole::copy_commit: case SyncRole::copy_wait: case SyncRole::copy_wait_all: return &ClusterMonitor::after_copy_group;
    case SyncRole::product_commit: case SyncRole::product_wait: return &ClusterMonitor::after_product_group;
    // The barrier itself announces arrivals (named_barrier, async); the others order nothing that the checker follows.
    case SyncRole::none: case SyncRole::cta_barrier_arrive: case SyncRole::copy_arrive: case SyncRole::alias_fence: case SyncRole::tmem_relinquish:
    case SyncRole::product_fence: return nullptr;
  }
  return nullptr;
}

void ClusterMonitor::instruction(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Reaction& r = launch_.reactions[pc_of(op)];
  WarpState& state = state_of(w);
  if (r.takes_loaded && !state.loading.empty()) note_register_use(w, op, state);
  if (launch_.follows_registers()) {
    const RegisterShadow::Missing missing = state.registers.step(w, launch_.predicates, op, mask);
    unwritten(w, op, missing.registers, "registers");
    unwritten(w, op, missing.predicates, "predicates");
  }
  if (r.handle != nullptr) (this->*r.handle)(w, op, mask);
}

void ClusterMonitor::skipped(const Warp& w, const DecodedOp& op) { unwritten(w, op, state_of(w).registers.skipped(w, op, w.active), "predicates"); }

void ClusterMonitor::unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what) {
  if (lanes == 0) return;
  parts_.reporter.report(Rule::register_unwritten, nullptr, access_of(w, op, lanes, Agent::thread, false), [&] { return std::string(what); });
}

// An instruction uses the register of a tcgen05.ld in flight: that load and those before it have written their registers.
void ClusterMonitor::note_register_use(const Warp& w, const DecodedOp& op, WarpState& state) {
  const Program& p = *launch_.program;
  const Program::RegUse& use = p.reg_use[pc_of(op)];
  for (uint32_t i = 0; i < use.reads; ++i) {
    if (const uint32_t load = state.loading.load_of(w.frame_base + p.reg_lists[use.first + i]); load != 0) state.clock.now.seen.raise(state.loads.read, load);
  }
}

void ClusterMonitor::after_wait(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = state_of(w);
  wait(w, op, mask);
  if ((w.alive & ~(w.preds[op.dst] & mask)) == 0 && launch_.untested[pc_of(op)] == 0) state.clock.meet();
  state.resized = false;
}

void ClusterMonitor::after_named_barrier(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = state_of(w);
  if (state.named != nullptr) state.clock.acquire(*state.named);
  state.clock.meet();
  state.resized = false;
}

void ClusterMonitor::after_cluster_barrier(const Warp& w, const DecodedOp& op, LaneMask) {
  cluster_barrier(w, op);
  if (op.sync == SyncRole::cluster_wait) state_of(w).clock.meet();
}

void ClusterMonitor::after_warp_barrier(const Warp& w, const DecodedOp&, LaneMask mask) {
  if ((w.alive & ~mask) == 0) state_of(w).clock.meet();
}

// tcgen05.wait: every operation of the queue is complete, in each of the warp's clocks.
void ClusterMonitor::after_load_wait(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = state_of(w);
  state.loads.wait_all(state.clock.now.seen);
  state.loads.wait_all(state.clock.now.tensor);
  state.loading.clear();
}

void ClusterMonitor::after_store_wait(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = state_of(w);
  state.stores.wait_all(state.clock.now.seen);
  state.stores.wait_all(state.clock.now.tensor);
}

void ClusterMonitor::after_commit(const Warp& w, const DecodedOp& op, LaneMask mask) {
  check_commit(w, op, mask);
  one_lane(w, op, mask);
}

void ClusterMonitor::after_bulk_group(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = state_of(w);
  const bool waits = op.sync == SyncRole::bulk_wait;
  for (auto& [lane, q] : state.bulk) {
    if ((mask >> lane & 1) == 0) continue;
    if (!waits) {
      q.commit_group();
      continue;
    }
    const auto& x = op.as<payload::GroupWait>();
    Clock over;
    q.wait_groups(x.allowed, x.reads_only, over);
    const Component event = x.reads_only ? q.read : q.done;
    if (over[event] == 0) continue;
    state.clock.part(1u << lane, w.alive, event, over[event], over);
    state.clock.now.seen.join(over);
  }
}

void ClusterMonitor::after_copy_group(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = state_of(w);
  switch (op.sync) {
    case SyncRole::copy_commit: return state.copies.commit_group();
    case SyncRole::copy_wait: return state.copies.wait_groups(op.as<payload::GroupWait>().allowed, false, state.clock.now.seen);
    default:  // copy_wait_all
      state.copies.wait_all(state.clock.now.seen);
  }
}

void ClusterMonitor::after_product_group(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = state_of(w);
  if (op.sync == SyncRole::product_commit) return state.products.commit_group();
  state.products.wait_groups(op.as<payload::GroupWait>().allowed, false, state.clock.now.seen);
}

// griddepcontrol.wait: an edge from the launches before (docs/facts/tma-mbarrier.md §3.4).
void ClusterMonitor::grid_wait(const Warp& w, const DecodedOp& op, LaneMask) {
  if (launch_.program->instruction(op).has(isa::Mod::wait)) state_of(w).clock.now.seen.raise(Components::kGridWait, 1);
}

}  // namespace drywell::sim::check
