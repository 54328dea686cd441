#include "sim/check/register_use.h"

#include "drywell/isa/spec.h"
#include "sim/check/absent_use.h"
#include "sim/check/passed_values.h"

namespace drywell::sim::check {

// An instruction uses the register of a tcgen05.ld in flight: on silicon that load and those before it have written their registers. A move
// is no use: compilers put moves in front of the wait, and ptxas removes them; the copy is as new as its value.
void RegisterUse::take_loaded(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  if (state.loading.empty()) return;
  const Program& p = *parts_.launch.program;
  const Program::RegUse& use = p.reg_use[parts_.pc_of(op)];
  const bool copies = copy_of(p, parts_.pc_of(op)).has_value();
  LoadedRegisters::Load copied;
  for (uint32_t i = 0; i < use.reads; ++i) {
    const LoadedRegisters::Load load = state.loading.load_of(w.frame_base + p.reg_lists[use.first + i]);
    if (load.number == 0) continue;
    state.clock.now.seen.raise(state.loads.read, load.number);
    copies ? void(copied = load) : report_unwaited(w, op, mask, load.id, p.reg_lists[use.first + i]);
  }
  for (uint32_t i = use.reads; i < uint32_t{use.reads} + use.writes; ++i) {
    const uint32_t slot = w.frame_base + p.reg_lists[use.first + i];
    copied.number != 0 ? state.loading.add(slot, copied) : state.loading.drop(slot);
  }
}

void RegisterUse::report_unwaited(const Warp& w, const DecodedOp& op, LaneMask mask, AccessId load, uint32_t offset) {
  parts_.reporter.report(Rule::load_not_waited, &parts_.accesses[load], parts_.access(w, op, mask, Agent::thread, false),
                         [&] { return register_name(*parts_.launch.program, op.function, offset); });
}

void RegisterUse::fence_products(const Warp& w, const DecodedOp&, LaneMask) { parts_.state_of(w).fragments.fence(); }

// A call has changed the frame by now, and its arguments are copies.
void RegisterUse::take_fragments(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (op.flow == isa::Flow::call || op.flow == isa::Flow::return_) return;
  const Program& p = *parts_.launch.program;
  if (const auto c = copy_of(p, parts_.pc_of(op))) return parts_.state_of(w).fragments.copy(w.frame_base + c->from, w.frame_base + c->to);
  const Program::RegUse& use = p.reg_use[parts_.pc_of(op)];
  for (uint32_t i = 0; i < uint32_t{use.reads} + use.writes; ++i) {
    const uint32_t offset = p.reg_lists[use.first + i];
    check_in_flight(w, op, mask, offset, i >= use.reads);
    parts_.state_of(w).fragments.touch(w.frame_base + offset, {parts_.pc_of(op), mask, parts_.cluster.now}, i >= use.reads);
  }
}

// A product only reads A: another reader changes nothing.
void RegisterUse::check_in_flight(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t offset, bool write) {
  WarpState& state = parts_.state_of(w);
  const ProductRegisters::Product& product = state.fragments.product_of(w.frame_base + offset);
  if (product.id == 0 || (!write && product.shape == 0)) return;
  const Access& prior = parts_.accesses[product.id];
  if (state.clock.now.seen[prior.done] >= prior.done_at) return;
  parts_.reporter.report(Rule::fragment_in_flight, &prior, parts_.access(w, op, mask, Agent::thread, write), [&] { return register_name(*parts_.launch.program, op.function, offset); });
}

void RegisterUse::follow(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  if (parts_.launch.followed.touches(parts_.pc_of(op))) {
    if (is_computation(op) || parts_.launch.reactions[parts_.pc_of(op)].shuffles) mark_unwritten(parts_, w, op, mask);
    const RegisterShadow::Missing missing = state.registers.step(w, parts_.launch.predicates, parts_.launch.followed, op, mask);
    unwritten(w, op, missing.registers, "registers");
    unwritten(w, op, missing.predicates, "predicates");
  }
  if (op.flow != isa::Flow::next) pass_values(parts_, w, op, mask);
  if (!state.absent.any() && state.holes.empty() && !parts_.launch.reactions[parts_.pc_of(op)].shuffles) return;
  if (state.absent.any()) check_absent_branch(parts_, w, op, mask);
  absent_.step(w, op, mask);
}

void RegisterUse::skipped(const Warp& w, const DecodedOp& op) {
  unwritten(w, op, parts_.state_of(w).registers.skipped(w, parts_.launch.followed, op, w.active), "predicates");
  if (!parts_.state_of(w).absent.any()) return;
  check_absent_guard(parts_, w, op);
  check_absent_branch(parts_, w, op, w.active);
}

void RegisterUse::unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what) {
  if (lanes == 0) return;
  parts_.reporter.report(Rule::register_unwritten, nullptr, parts_.access(w, op, lanes, Agent::thread, false), [&] { return std::string(what); });
}

}  // namespace drywell::sim::check
