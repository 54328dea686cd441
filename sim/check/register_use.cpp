#include "sim/check/register_use.h"

#include "drywell/isa/spec.h"

namespace drywell::sim::check {

// An instruction uses the register of a tcgen05.ld in flight: that load and those before it have written their registers.
void RegisterUse::take_loaded(const Warp& w, const DecodedOp& op) {
  WarpState& state = parts_.state_of(w);
  if (state.loading.empty()) return;
  const Program& p = *parts_.launch.program;
  const Program::RegUse& use = p.reg_use[parts_.pc_of(op)];
  for (uint32_t i = 0; i < use.reads; ++i) {
    if (const uint32_t load = state.loading.load_of(w.frame_base + p.reg_lists[use.first + i]); load != 0) state.clock.now.seen.raise(state.loads.read, load);
  }
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
  const RegisterShadow::Missing missing = parts_.state_of(w).registers.step(w, parts_.launch.predicates, op, mask);
  unwritten(w, op, missing.registers, "registers");
  unwritten(w, op, missing.predicates, "predicates");
}

void RegisterUse::skipped(const Warp& w, const DecodedOp& op) { unwritten(w, op, parts_.state_of(w).registers.skipped(w, op, w.active), "predicates"); }

void RegisterUse::unwritten(const Warp& w, const DecodedOp& op, LaneMask lanes, const char* what) {
  if (lanes == 0) return;
  parts_.reporter.report(Rule::register_unwritten, nullptr, parts_.access(w, op, lanes, Agent::thread, false), [&] { return std::string(what); });
}

}  // namespace drywell::sim::check
