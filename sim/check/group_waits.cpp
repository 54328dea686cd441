#include "sim/check/group_waits.h"

#include "sim/state/payload/group_wait.h"

namespace drywell::sim::check {
namespace {

// Every operation of the queue is complete, in each of the warp's clocks.
void wait_all(const OperationQueue& q, Message& now) {
  q.wait_all(now.seen);
  q.wait_all(now.tensor);
}

}  // namespace

void GroupWaits::tensor_loads(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  wait_all(state.loads, state.clock.now);
  state.loading.clear();
}

void GroupWaits::tensor_stores(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  wait_all(state.stores, state.clock.now);
}

void GroupWaits::commit_bulk(const Warp& w, const DecodedOp&, LaneMask mask) {
  for (auto& [lane, q] : parts_.state_of(w).bulk) {
    if ((mask >> lane & 1) != 0) q.commit_group();
  }
}

// Each lane waits for its own groups.
void GroupWaits::wait_bulk(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  const auto& x = op.as<payload::GroupWait>();
  for (auto& [lane, q] : state.bulk) {
    if ((mask >> lane & 1) == 0) continue;
    Clock over;
    q.wait_groups(x.allowed, x.reads_only, over);
    q.waited = {parts_.pc_of(op), q.issued};
    const Component event = x.reads_only ? q.read : q.done;
    if (over[event] == 0) continue;
    state.clock.part(1u << lane, w.alive, event, over[event], over);
    state.clock.now.seen.join(over);
  }
}

void GroupWaits::commit_copies(const Warp& w, const DecodedOp&, LaneMask) { parts_.state_of(w).copies.commit_group(); }

void GroupWaits::wait_copies(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = parts_.state_of(w);
  const uint32_t allowed = op.as<payload::GroupWait>().allowed;
  for (Clock* c : {&state.clock.now.seen, &state.clock.now.wide}) state.copies.wait_groups(allowed, false, *c);
  state.copies.waited = {parts_.pc_of(op), state.copies.issued};
}

void GroupWaits::wait_all_copies(const Warp& w, const DecodedOp&, LaneMask) {
  WarpState& state = parts_.state_of(w);
  for (Clock* c : {&state.clock.now.seen, &state.clock.now.wide}) state.copies.wait_all(*c);
}

void GroupWaits::commit_products(const Warp& w, const DecodedOp&, LaneMask) { parts_.state_of(w).products.commit_group(); }

void GroupWaits::wait_products(const Warp& w, const DecodedOp& op, LaneMask) {
  WarpState& state = parts_.state_of(w);
  state.products.wait_groups(op.as<payload::GroupWait>().allowed, false, state.clock.now.seen);
  state.products.waited = {parts_.pc_of(op), state.products.issued};
}

// griddepcontrol.wait: an edge from the launches before (docs/facts/tma-mbarrier.md §3.4).
void GroupWaits::grids(const Warp& w, const DecodedOp& op, LaneMask) {
  if (parts_.launch.program->instruction(op).has(isa::Mod::wait)) parts_.state_of(w).clock.now.seen.raise(Components::kGridWait, 1);
}

}  // namespace drywell::sim::check
