#include "sim/check/local_accesses.h"

#include "sim/exec/exec.h"
#include "sim/state/payload/memory.h"

namespace drywell::sim::check {
namespace {

/// One lane's access.
struct Place {
  uint32_t lane = 0;
  uint64_t at = 0;  // in local memory
};

// A value that nothing has written leaves the memory that it is copied to unwritten: copies of structures take their holes along.
void note_store(WarpState& state, const Warp& w, const DecodedOp& op, const Place& p, uint32_t bytes) {
  const payload::Access* const x = op.get_if<payload::Access>();
  if (x == nullptr) return state.local.set(p.lane, p.at, bytes, true);
  const Src* const slots = slots_at(w, x->first_slot);
  for (uint32_t k = 0; k < x->count; ++k) {
    const AbsentMarks m = slots[k].bank == 0 ? state.absent.of_register(w.frame_base + slots[k].offset).of(1u << p.lane) : AbsentMarks{};
    const bool marked = state.absent.from_nothing(m);
    state.local.set(p.lane, p.at + k * x->element, x->element, !marked);
  }
}

// A register with one byte that was written counts as written: which of its bytes an instruction uses is not followed.
void note_load(WarpState& state, const Warp& w, const payload::Access& x, const Place& p) {
  const Src* const slots = slots_at(w, x.first_slot);
  for (uint32_t k = 0; k < x.count; ++k) {
    if (slots[k].bank != 0 || state.local.any(p.lane, p.at + k * x.element, x.element)) continue;
    note_hole(state.holes, {slots[k].offset, 1u << p.lane});
  }
}

}  // namespace

bool names_param(const Program& p, const DecodedOp& op) {
  const isa::Mod space = p.instruction(op).mod(isa::Slot::space);
  return space == isa::Mod::param || space == isa::Mod::param_entry || space == isa::Mod::param_func;
}

// Calls pass values through local memory without an access, and a function's frame serves all calls of it: loads are followed in the
// kernel's variables.
void follow_local(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (!parts.launch.follows_registers() || w.frames[w.frame].local_end == 0) return;
  WarpState& state = parts.state_of(w);
  const payload::Access* const x = op.get_if<payload::Access>();
  const bool loads = !store && x != nullptr && !names_param(*parts.launch.program, op);
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    if (space == Space::generic && a >> 32 != window::kLocalHigh) return;
    const Place p{lane, static_cast<uint32_t>(a)};
    if (p.at + bytes > w.frames[w.frame].local_end) return;  // a fault follows
    if (store) note_store(state, w, op, p, bytes);
    if (loads && p.at + bytes <= w.frames[0].local_end) note_load(state, w, *x, p);
  });
}

}  // namespace drywell::sim::check
