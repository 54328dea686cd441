// Semantics of table/control.inc: branches, exit, and warp-level communication.
#include <fmt/format.h>

#include "sim/exec/bind_helpers.h"

namespace drywell::sim {
namespace {

void jump(Warp& w, uint32_t target) {
  if (target <= w.pc) ++w.backward;
  w.pc = target;
}

Effect branch(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask == w.active) {
    jump(w, op.target);
    return Effect::jumped;
  }
  // The lanes that do not branch go on at the next instruction; the group with the lower pc runs first, so that the
  // groups meet again where the code joins.
  const LaneMask rest = w.active & ~mask;
  LaneGroup taken{op.target, mask, w.frame, w.backward + (op.target <= w.pc ? 1u : 0u)};
  LaneGroup fallthrough{w.pc + 1, rest, w.frame, w.backward};
  const bool take = taken.pc < fallthrough.pc;
  const LaneGroup& now = take ? taken : fallthrough;
  w.waiting.push_back(take ? fallthrough : taken);
  w.pc = now.pc;
  w.active = now.lanes;
  w.backward = now.backward;
  return Effect::jumped;
}

Effect end_lanes(Warp& w, const DecodedOp&, LaneMask mask) {
  w.alive &= ~mask;
  w.active &= ~mask;
  w.cta->cluster->wake(*w.cta);
  if (w.active == 0) return Effect::exited;
  ++w.pc;  // a guarded exit: the others go on
  return Effect::jumped;
}

Effect trap(Warp& w, const DecodedOp&, LaneMask mask) { return fault(w, "F3701", fmt::format("trap executed by lanes {:#010x}", mask)); }

// Lanes named in a member mask must execute the instruction together; those still elsewhere are waited for.
bool members_here(Warp& w, LaneMask members) { return (members & w.alive & ~w.active) == 0; }

uint32_t member_mask(const Warp& w, Src s, LaneMask mask) { return lanes<uint32_t>(w, s)[std::countr_zero(mask)]; }

Effect check_members(Warp& w, uint32_t members, LaneMask mask) {
  if ((mask & ~members) != 0) return fault(w, "F3401", fmt::format("lanes {:#010x} execute a .sync instruction whose member mask {:#010x} excludes them", mask & ~members, members));
  if (!members_here(w, members)) return block(w, BlockReason::warp_sync);
  return Effect::next;
}

Effect elect(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t members = member_mask(w, op.src[0], mask);
  if (const Effect e = check_members(w, members, mask); e != Effect::next) return e;
  const LaneMask present = members & w.alive;
  const auto leader = static_cast<uint32_t>(std::countr_zero(present));
  uint32_t r[kWarpSize];
  for (uint32_t& v : r) v = leader;
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  write_pred(w, op.dst2, 1u << leader, mask);
  return Effect::next;
}

// PTX ISA 9.7.9.6: c packs the segment mask (bits 12..8) and the clamp (bits 4..0).
Effect shuffle(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t members = member_mask(w, op.src[3], mask);
  if (const Effect e = check_members(w, members, mask); e != Effect::next) return e;
  const uint32_t *a = lanes<uint32_t>(w, op.src[0]), *b = lanes<uint32_t>(w, op.src[1]), *c = lanes<uint32_t>(w, op.src[2]);
  const auto mode = static_cast<isa::Mod>(op.extra);
  uint32_t r[kWarpSize];
  LaneMask in_range = 0;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t bval = b[lane] & 0x1F, cval = c[lane] & 0x1F, segment = (c[lane] >> 8) & 0x1F;
    const uint32_t max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    uint32_t j = 0;
    bool valid = false;
    switch (mode) {
      case isa::Mod::up:
        j = lane - bval;
        valid = static_cast<int32_t>(lane) - static_cast<int32_t>(bval) >= static_cast<int32_t>(max_lane);
        break;
      case isa::Mod::down: j = lane + bval; valid = j <= max_lane; break;
      case isa::Mod::bfly: j = lane ^ bval; valid = j <= max_lane; break;
      default: j = min_lane | (bval & ~segment & 0x1F); valid = j <= max_lane; break;
    }
    if (!valid) j = lane;
    r[lane] = a[j & 31];
    in_range |= uint32_t{valid} << lane;
  }
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  write_pred(w, op.dst2, in_range, mask);
  return Effect::next;
}

Effect vote(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t members = member_mask(w, op.src[0], mask);
  if (const Effect e = check_members(w, members, mask); e != Effect::next) return e;
  const LaneMask present = members & w.alive, p = read_pred(w, op.pred[0]) & present;
  switch (static_cast<isa::Mod>(op.extra)) {
    case isa::Mod::all: write_pred(w, op.dst, p == present ? kFullMask : 0, mask); break;
    case isa::Mod::any: write_pred(w, op.dst, p != 0 ? kFullMask : 0, mask); break;
    case isa::Mod::uni: write_pred(w, op.dst, p == present || p == 0 ? kFullMask : 0, mask); break;
    default: {
      uint32_t r[kWarpSize];
      for (uint32_t& v : r) v = p;
      store_masked(lanes<uint32_t>(w, op.dst), r, mask);
    }
  }
  return Effect::next;
}

void bind_pair(Decoder& d, DecodedOp& op, const isa::Operand& o) {
  if (o.kind == isa::Operand::Kind::pair) {
    op.dst = d.dest(d.elements(o)[0]);
    op.dst2 = d.dest_pred(d.elements(o)[1]);
  } else {
    op.dst = d.dest(o);
    op.dst2 = d.program().pred_count - 1;
  }
}

}  // namespace

template <> ExecFn bind<isa::Opcode::bra>(Decoder& d, DecodedOp& op) { op.target = d.label_pc(*d.operand(0)); return branch; }
template <> ExecFn bind<isa::Opcode::ret>(Decoder&, DecodedOp&) { return end_lanes; }
template <> ExecFn bind<isa::Opcode::exit>(Decoder&, DecodedOp&) { return end_lanes; }
template <> ExecFn bind<isa::Opcode::trap>(Decoder&, DecodedOp&) { return trap; }
template <> ExecFn bind<isa::Opcode::elect_sync>(Decoder& d, DecodedOp& op) {
  bind_pair(d, op, *d.operand(0));
  op.src[0] = d.source(*d.operand(1), 32);
  return elect;
}
template <> ExecFn bind<isa::Opcode::shfl_sync>(Decoder& d, DecodedOp& op) {
  bind_pair(d, op, *d.operand(0));
  for (size_t k = 0; k < 4; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.extra = static_cast<uint32_t>(d.mod(isa::Slot::mode));
  return shuffle;
}
template <> ExecFn bind<isa::Opcode::vote_sync>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(*d.operand(0));
  op.pred[0] = d.pred(*d.operand(1));
  op.src[0] = d.source(*d.operand(2), 32);
  op.extra = static_cast<uint32_t>(d.mod(isa::Slot::mode));
  return vote;
}
template <> ExecFn bind<isa::Opcode::vote_sync_ballot>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.pred[0] = d.pred(*d.operand(1));
  op.src[0] = d.source(*d.operand(2), 32);
  op.extra = static_cast<uint32_t>(isa::Mod::ballot);
  return vote;
}

}  // namespace drywell::sim
