// The observer: passes events to the monitor of their cluster.
#include <map>
#include <mutex>

#include "drywell/isa/spec.h"
#include "sim/check/gathering.h"
#include "sim/check/guesses.h"
#include "sim/check/inflight_loads.h"
#include "sim/check/product_registers.h"
#include "sim/check/untested_waits.h"
#include "sim/exec/shared_layout.h"
#include "sim/exec/shuffle_sources.h"

namespace drywell::sim {
namespace check {
namespace {

using isa::MemoryRole;
using isa::Mod;
using isa::SyncRole;

/// Loads, stores and atomics of threads: they may have a memory order.
bool accesses_memory(const isa::Instruction& i) {
  switch (isa::spec(i.op).memory) {
    case MemoryRole::load:
    case MemoryRole::store:
    case MemoryRole::atomic:
    case MemoryRole::reduction: return true;
    case MemoryRole::none:
    case MemoryRole::matrix_load:
    case MemoryRole::matrix_store:
    case MemoryRole::fragment_load:
    case MemoryRole::fragment_store:
    case MemoryRole::fill:
    case MemoryRole::async_store:
    case MemoryRole::multimem: return false;
  }
  return false;
}

Ordering ordering_of_access(const isa::Instruction& i) {
  const Mod sem = i.mod(isa::Slot::sem);
  switch (isa::spec(i.op).memory) {
    case MemoryRole::atomic:
    case MemoryRole::reduction: return {true, sem == Mod::release || sem == Mod::acq_rel, sem == Mod::acquire || sem == Mod::acq_rel};
    case MemoryRole::load:
    case MemoryRole::store: return {sem != Mod::none && sem != Mod::weak, sem == Mod::release, sem == Mod::acquire};
    case MemoryRole::none:
    case MemoryRole::matrix_load:
    case MemoryRole::matrix_store:
    case MemoryRole::fragment_load:
    case MemoryRole::fragment_store:
    case MemoryRole::fill:
    case MemoryRole::async_store:
    case MemoryRole::multimem: return {};
  }
  return {};
}

Ordering semantics_of(const isa::Instruction& i) {
  if (accesses_memory(i)) return ordering_of_access(i);
  switch (isa::spec(i.op).sync) {
    case SyncRole::mbarrier_arrive:
    case SyncRole::cluster_arrive: return {true, !i.has(Mod::relaxed), false};
    case SyncRole::mbarrier_wait: return {true, false, !i.has(Mod::relaxed)};
    // The order that these make has handlers of its own (ClusterMonitor::handler_of).
    case SyncRole::none:
    case SyncRole::mbarrier_init:
    case SyncRole::mbarrier_inval:
    case SyncRole::mbarrier_count:
    case SyncRole::cta_barrier:
    case SyncRole::cta_barrier_arrive:
    case SyncRole::cluster_wait:
    case SyncRole::warp_barrier:
    case SyncRole::thread_fence:
    case SyncRole::mbarrier_init_fence:
    case SyncRole::async_proxy_fence:
    case SyncRole::async_generic_fence:
    case SyncRole::alias_fence:
    case SyncRole::map_edit:
    case SyncRole::map_copy:
    case SyncRole::map_release:
    case SyncRole::map_acquire:
    case SyncRole::tensor_fence_before:
    case SyncRole::tensor_fence_after:
    case SyncRole::tensor_commit:
    case SyncRole::tensor_product:
    case SyncRole::tmem_load_wait:
    case SyncRole::tmem_store_wait:
    case SyncRole::tmem_alloc:
    case SyncRole::tmem_dealloc:
    case SyncRole::tmem_relinquish:
    case SyncRole::copy_commit:
    case SyncRole::copy_wait:
    case SyncRole::copy_wait_all:
    case SyncRole::copy_arrive:
    case SyncRole::bulk_commit:
    case SyncRole::bulk_wait:
    case SyncRole::product_fence:
    case SyncRole::product_commit:
    case SyncRole::product_wait:
    case SyncRole::register_pool:
    case SyncRole::grid_dependency: return {};
  }
  return {};
}

bool of_mbarrier(SyncRole r) { return r >= SyncRole::mbarrier_init && r <= SyncRole::mbarrier_wait; }

// .cta is the default where a scope may be left out (PTX ISA 9.7.13.15.13, .16); fences and volatile accesses without one are wider.
Ordering ordering_of(const isa::Instruction& i) {
  Ordering o = semantics_of(i);
  const Mod scope = i.mod(isa::Slot::scope);
  o.wide = scope != Mod::cta && (scope != Mod::none || !of_mbarrier(isa::spec(i.op).sync));
  o.incoherent = i.has(Mod::nc);
  o.cross_cluster = scope != Mod::cta && scope != Mod::cluster && !i.has(Mod::cta);
  return o;
}

/// Threads of different CTAs may order each other through this instruction.
bool synchronises(const isa::Instruction& i, const Ordering& o) {
  if (isa::spec(i.op).sync == SyncRole::thread_fence) return !i.has(Mod::cta);
  const bool shared = i.has(Mod::shared) || i.has(Mod::shared_cta) || i.has(Mod::shared_cluster);
  return accesses_memory(i) && o.strong && !shared;
}

/// The instruction orders threads of different CTAs in a way that the checker does not follow.
bool hides_order(const isa::Instruction& i) { return isa::spec(i.op).memory == MemoryRole::async_store && i.has(Mod::global); }

/// Part of the memory may have no value.
bool loads_shared(const isa::Instruction& i) {
  const Mod space = i.mod(isa::Slot::space);
  const MemoryRole role = isa::spec(i.op).memory;
  return (role == MemoryRole::load || role == MemoryRole::matrix_load) && (space == Mod::shared || space == Mod::shared_cta || space == Mod::shared_cluster || space == Mod::none);
}

}  // namespace

void LaunchState::begin(const Launch& launch) {
  program = launch.program;
  orderings.clear();
  reactions.clear();
  ends_mbarriers = synchronised = opaque = waits_for_grids = starts_dependents = strong_memory = peer_memory = false;
  cross_cluster_flags.clear();
  loose_flags = {};
  if (follows_registers()) {
    predicates = PredicateUse(*program);
    followed = FollowedRegisters(*program, predicates);
  }
  values_absent = follows_registers() && followed.any();
  values_absent = values_absent || std::any_of(program->functions.begin(), program->functions.end(), [](const FunctionCode& f) { return f.local_bytes != 0; });
  untested = untested_waits(*program);
  guessing = full() ? guesses(*program) : std::vector<uint8_t>{};
  load_uses = std::make_unique<LoadUses>(*program);
  arrays.clear();
  for (const SharedVariable& v : lay_out_shared(*program->module, program->functions).variables) {
    const auto bytes = static_cast<uint32_t>(v.variable->bytes());
    if (!v.dynamic && bytes != 0) arrays.push_back({v.offset, v.offset + bytes, v.variable->name});
  }
  const std::vector<uint8_t> loaded = uses_of_loads(*program), fragments = uses_of_products(*program);
  for (const DecodedOp& op : program->code) {
    orderings.emplace_back();
    reactions.emplace_back();
    // The end of a function without a body of its own has no instruction.
    if (op.instr >= program->function_of(op).body.size()) continue;
    const isa::Instruction& i = program->instruction(op);
    orderings.back() = ordering_of(i);
    reactions.back() = {ClusterMonitor::handler_of(isa::spec(op.opcode), full()), loaded[pc_of(op)] != 0, fragments[pc_of(op)] != 0, is_shuffle(op) || is_reduction_of_lanes(op)};
    values_absent = values_absent || is_shuffle(op) || loads_shared(i) || isa::spec(i.op).completion == isa::Completion::wait_ld;
    synchronised = synchronised || synchronises(i, orderings.back());
    opaque = opaque || hides_order(i);
    ends_mbarriers = ends_mbarriers || op.sync == SyncRole::mbarrier_inval;
    strong_memory = strong_memory || (orderings.back().strong && accesses_memory(i));
    peer_memory = peer_memory || (launch.cluster.count() > 1 && accesses_memory(i) && i.has(Mod::shared_cluster));
    const bool grids = op.sync == SyncRole::grid_dependency;
    waits_for_grids = waits_for_grids || (grids && i.has(Mod::wait));
    starts_dependents = starts_dependents || (grids && !i.has(Mod::wait));
  }
}

}  // namespace check

class HazardChecker::Impl : public Listener {
 public:
  explicit Impl(const CheckOptions& o) : launch_(o), gathering_(o) {}

  /// The value that global memory passes to an acquire depends on the clusters' order: one host thread runs all of them.
  bool concurrent() const override { return !launch_.follows_cross_cluster(); }
  bool wants_memory() const override { return launch_.full() || launch_.strong_memory || launch_.peer_memory; }
  bool wants_waits() const override { return false; }
  bool wants_instruction(const Program&, const DecodedOp& op) const override { return launch_.reacts(op); }

  void launch_started(const Launch& l) override {
    gathering_.finish();
    launch_.begin(l);
    gathering_.begin(l, launch_);
  }
  void launch_finished() override {
    gathering_.finish();
    launch_.overlaps = false;
  }
  void cta_started(const Cta& cta) override { gathering_.start(*cta.cluster); }
  void cta_finished(const Cta& cta) override {
    monitor(*cta.cluster).finish(cta);
    gathering_.collect(*cta.cluster);
  }
  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override { monitor(*w.cta->cluster).instruction(w, op, mask); }
  bool wants_skipped(const Program& p, const DecodedOp& op) const override {
    if (!launch_.follows_registers() || op.instr >= p.function_of(op).body.size() || op.guard.index == 0) return false;
    return launch_.values_absent || launch_.followed.has_predicate(op.guard.index);
  }
  // Another listener may have asked for it: where registers are not followed, no predicate would seem to be written.
  void skipped(const Warp& w, const DecodedOp& op) override {
    if (wants_skipped(*w.cta->cluster->launch->program, op)) monitor(*w.cta->cluster).skipped(w, op);
  }
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space s, uint32_t bytes, bool store) override {
    monitor(*w.cta->cluster).memory(w, op, mask, s, bytes, store);
  }
  void mbarrier(const Cta& c, uint32_t offset, const Mbarrier&, MbarrierEvent e, int64_t amount) override {
    monitor(*c.cluster).mbarrier(c, offset, e, amount);
  }
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) override { monitor(*w.cta->cluster).named_barrier(w, id, b); }
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override { monitor(c).async(op, m); }

  void blocked(const Warp& w, const DecodedOp&) override {
    if (w.waits_on_mbarrier) monitor(*w.cta->cluster).blocked(w);
  }

  std::string explain_hang(const Cluster& c) override {
    WaitGraph graph = monitor(c).hang().graph();
    const std::lock_guard lock(mutex_);  // guards against calls for other clusters
    graph_ = std::move(graph);
    return monitor(c).hang().text();
  }
  bool knows_writers() const override { return launch_.full() && launch_.options.global_memory; }
  std::string last_writer(const Cluster& c, uint64_t address, bool shared) override { return gathering_.last_writer(c.index, address, shared, concurrent()); }
  WaitGraph wait_graph() {
    const std::lock_guard lock(mutex_);
    return graph_;
  }

  void follow(Impl& before) {
    before.gathering_.finish();
    launch_.previous = std::move(before.launch_.previous);
    launch_.overlaps = before.launch_.starts_dependents;
  }

  std::vector<Finding> findings() {
    gathering_.finish();
    return gathering_.findings();
  }

  std::vector<uint32_t> waits_without_news() {
    gathering_.finish();
    return gathering_.waits_without_news();
  }

  /// In the order of detection, if one host thread runs the clusters.
  const std::vector<Finding>& so_far() { return gathering_.so_far(); }

 private:
  check::ClusterMonitor& monitor(const Cluster& c) { return gathering_.monitor(c.index); }

  check::LaunchState launch_;
  check::Gathering gathering_;
  std::mutex mutex_;
  WaitGraph graph_;
};

HazardChecker::HazardChecker(CheckOptions options) : impl_(std::make_unique<Impl>(options)) {}
HazardChecker::~HazardChecker() = default;
Listener* HazardChecker::listener() { return impl_.get(); }
void HazardChecker::follow(HazardChecker& before) { impl_->follow(*before.impl_); }
std::vector<Finding> HazardChecker::findings() const { return impl_->findings(); }
size_t HazardChecker::count() const { return impl_->so_far().size(); }
Finding HazardChecker::finding(size_t i) const { return impl_->so_far().at(i); }
std::vector<uint32_t> HazardChecker::waits_without_news() const { return impl_->waits_without_news(); }
WaitGraph HazardChecker::wait_graph() const { return impl_->wait_graph(); }

}  // namespace drywell::sim
