// Instructions that were executed: what each kind tells the checker.
#include "drywell/isa/opcode.h"
#include "sim/check/monitor.h"

namespace drywell::sim::check {

using isa::Mod;
using isa::Opcode;

namespace {

// tcgen05.wait: everything of the queue is over, for this warp in every sense.
void drain(const Queue& q, WarpClock& c) {
  if (q.issued == 0) return;
  c.now.seen.raise(q.done, q.issued);
  c.now.tensor.raise(q.done, q.issued);
}

}  // namespace

decltype(Reaction::handle) ClusterMonitor::handler_of(Opcode op, bool full) {
  switch (op) {
    case Opcode::mbarrier_init: case Opcode::mbarrier_inval: case Opcode::mbarrier_arrive: case Opcode::mbarrier_arrive_expect_tx:
    case Opcode::mbarrier_arrive_drop: case Opcode::mbarrier_arrive_drop_expect_tx: case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx: return &ClusterMonitor::barrier_events;
    case Opcode::mbarrier_try_wait: case Opcode::mbarrier_test_wait: return &ClusterMonitor::after_wait;
    case Opcode::bar_sync: case Opcode::bar_red_pred: case Opcode::bar_red_popc:
    case Opcode::barrier_sync: case Opcode::barrier_red_pred: case Opcode::barrier_red_popc: return &ClusterMonitor::after_named_barrier;
    case Opcode::barrier_cluster_arrive: case Opcode::barrier_cluster_wait: return &ClusterMonitor::after_cluster_barrier;
    case Opcode::bar_warp_sync: return &ClusterMonitor::after_warp_barrier;
    case Opcode::fence: case Opcode::fence_sync_restrict: case Opcode::membar: case Opcode::fence_mbarrier_init:
    case Opcode::fence_proxy_async: case Opcode::fence_proxy_async_generic:
    case Opcode::tcgen05_fence_before_thread_sync: case Opcode::tcgen05_fence_after_thread_sync: return &ClusterMonitor::fence;
    case Opcode::tcgen05_wait_ld: return &ClusterMonitor::after_load_wait;
    case Opcode::tcgen05_wait_st: return &ClusterMonitor::after_store_wait;
    case Opcode::tcgen05_alloc: case Opcode::tcgen05_dealloc: return &ClusterMonitor::tensor_memory;
    case Opcode::tcgen05_commit: return &ClusterMonitor::after_commit;
    case Opcode::tcgen05_mma: case Opcode::tcgen05_mma_scaled: case Opcode::tcgen05_mma_sp: case Opcode::tcgen05_mma_sp_scaled:
    case Opcode::tcgen05_mma_ws: case Opcode::tcgen05_mma_ws_sp: return &ClusterMonitor::one_lane;
    case Opcode::setmaxnreg: return &ClusterMonitor::set_registers;
    case Opcode::griddepcontrol: return &ClusterMonitor::grid_wait;
    case Opcode::tensormap_replace: case Opcode::tensormap_replace_dim: case Opcode::tensormap_replace_mode:
    case Opcode::tensormap_cp_fenceproxy: case Opcode::fence_proxy_tensormap_release: case Opcode::fence_proxy_tensormap_acquire:
      return full ? &ClusterMonitor::edit_map : nullptr;
    case Opcode::cp_async_bulk_commit_group: case Opcode::cp_async_bulk_wait_group: return &ClusterMonitor::after_bulk_group;
    case Opcode::cp_async_commit_group: case Opcode::cp_async_wait_group: case Opcode::cp_async_wait_all: return &ClusterMonitor::after_copy_group;
    case Opcode::wgmma_commit_group: case Opcode::wgmma_wait_group: return &ClusterMonitor::after_product_group;
    default: return nullptr;
  }
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
  reporter_.report(Rule::register_unwritten, nullptr, access_of(w, pc_of(op), lanes, Agent::thread, false), [&] { return std::string(what); });
}

// A register written by a tcgen05.ld in flight holds the value when an instruction uses it; so do those of the loads before.
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
  if ((w.alive & ~(w.preds[op.dst] & mask)) == 0) state.clock.meet();
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
  if (op.opcode == Opcode::barrier_cluster_wait) state_of(w).clock.meet();
}

void ClusterMonitor::after_warp_barrier(const Warp& w, const DecodedOp&, LaneMask mask) {
  if ((w.alive & ~mask) == 0) state_of(w).clock.meet();
}

void ClusterMonitor::after_load_wait(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = state_of(w);
  drain(state.loads, state.clock);
  state.loading.clear();
}

void ClusterMonitor::after_store_wait(const Warp& w, const DecodedOp&, LaneMask) { drain(state_of(w).stores, state_of(w).clock); }

void ClusterMonitor::after_commit(const Warp& w, const DecodedOp& op, LaneMask mask) {
  check_commit(w, op, mask);
  one_lane(w, op, mask);
}

void ClusterMonitor::after_bulk_group(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = state_of(w);
  const bool waits = op.opcode == Opcode::cp_async_bulk_wait_group;
  if (waits) state.clock.part(mask, w.alive);
  for (auto& [lane, q] : state.bulk) {
    if ((mask >> lane & 1) == 0) continue;
    if (waits) {
      wait_groups(q, state, op.imm, op.extra != 0);
    } else {
      q.groups.push_back(q.issued);
    }
  }
}

void ClusterMonitor::after_copy_group(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = state_of(w);
  switch (op.opcode) {
    case Opcode::cp_async_commit_group: state.copies.groups.push_back(state.copies.issued); break;
    case Opcode::cp_async_wait_group: wait_groups(state.copies, state, op.imm, false); break;
    default:
      if (state.copies.issued != 0) state.clock.now.seen.raise(state.copies.done, state.copies.issued);
  }
}

void ClusterMonitor::after_product_group(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = state_of(w);
  if (op.opcode == Opcode::wgmma_commit_group) return state.products.groups.push_back(state.products.issued);
  const auto pending = launch_.program->function_of(op).operands(launch_.program->instruction(op))[0].value;
  wait_groups(state.products, state, static_cast<uint64_t>(pending), false);
}

}  // namespace drywell::sim::check
