#include "sim/check/local_accesses.h"

#include "sim/check/passed_values.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/memory.h"

namespace drywell::sim::check {
namespace {

/// One lane's access.
struct Place {
  uint32_t lane = 0;
  uint64_t at = 0;  // in local memory
};

/// A field of a word of bits: what was made of the word's value goes back to its place.
bool fills_in(const WarpState& state, const AbsentMarks& m, const Place& p) {
  if (m.wrong == 0 || state.absent.origin_at(m.origin).agent != Agent::hole) return false;
  const auto from = state.hole_places.find(state.absent.origin_at(m.origin).pc);
  return from != state.hole_places.end() && from->second[p.lane] == p.at;
}

void note_number(WarpState& state, const Place& p, bool undefined, uint16_t origin) {
  if (!undefined && state.passed_numbers.find(p.at) == state.passed_numbers.end()) return;
  PassedNumber& n = state.passed_numbers[p.at];
  n.lanes = (n.lanes & ~(1u << p.lane)) | (LaneMask{undefined} << p.lane);
  if (undefined) n.origin = origin;
}

// A value that nothing has written leaves the memory that it is copied to unwritten: copies of structures take their holes along.
// `number`: a parameter that is no structure.
void note_store(WarpState& state, const Warp& w, const DecodedOp& op, const Place& p, uint32_t bytes, bool number) {
  const payload::Access* const x = op.get_if<payload::Access>();
  if (x == nullptr) return state.local.set(p.lane, p.at, bytes, true);
  const Src* const slots = slots_at(w, x->first_slot);
  for (uint32_t k = 0; k < x->count; ++k) {
    const AbsentMarks m = slots[k].bank == 0 ? state.absent.of_register(w.frame_base + slots[k].offset).of(1u << p.lane) : AbsentMarks{};
    const bool marked = state.absent.from_nothing(m), hole = marked && state.absent.origin_at(m.origin).agent == Agent::hole;
    state.local.set(p.lane, p.at + k * x->element, x->element, !marked || (number && !hole) || fills_in(state, m, p));
    if (number) note_number(state, p, marked && !hole, m.origin);
  }
}

// A register with one byte that was written counts as written: which of its bytes an instruction uses is not followed.
void note_load(WarpState& state, const Warp& w, size_t pc, const payload::Access& x, const Place& p) {
  const Src* const slots = slots_at(w, x.first_slot);
  const auto number = state.passed_numbers.find(p.at);
  if (x.count == 1 && slots[0].bank == 0 && number != state.passed_numbers.end() && (number->second.lanes >> p.lane & 1) != 0)
    return note_hole(state.holes, {slots[0].offset, 1u << p.lane, false, 0, static_cast<uint16_t>(number->second.origin + 1)});
  for (uint32_t k = 0; k < x.count; ++k) {
    if (slots[k].bank != 0 || state.local.any(p.lane, p.at + k * x.element, x.element)) continue;
    note_hole(state.holes, {slots[k].offset, 1u << p.lane});
    if (x.count == 1) state.hole_places[static_cast<uint32_t>(pc)][p.lane] = p.at;
  }
}

}  // namespace

bool names_param(const Program& p, const DecodedOp& op) {
  const isa::Mod space = p.instruction(op).mod(isa::Slot::space);
  return space == isa::Mod::param || space == isa::Mod::param_entry || space == isa::Mod::param_func;
}

// A function's frame serves all calls of it: loads are followed in the kernel's variables, and in parameters and results, which calls and
// returns bring (passed_values.h).
void follow_local(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (!parts.launch.follows_registers() || w.frames[w.frame].local_end == 0) return;
  WarpState& state = parts.state_of(w);
  const payload::Access* const x = op.get_if<payload::Access>();
  const bool loads = !store && x != nullptr, passed = names_param(*parts.launch.program, op);
  const bool number = passed && store && !passes_structure(*parts.launch.program, op);
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    if (space == Space::generic && a >> 32 != window::kLocalHigh) return;
    const Place p{lane, static_cast<uint32_t>(a)};
    if (p.at + bytes > w.frames[w.frame].local_end) return;  // a fault follows
    if (store) note_store(state, w, op, p, bytes, number);
    if (loads && (passed || p.at + bytes <= w.frames[0].local_end)) note_load(state, w, parts.pc_of(op), *x, p);
  });
}

}  // namespace drywell::sim::check
