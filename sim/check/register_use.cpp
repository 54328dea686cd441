#include "sim/check/register_use.h"

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
