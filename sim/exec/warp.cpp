// Semantics of table/warp.inc: exchange, votes and reductions between the lanes of a warp.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"
#include "sim/exec/member_mask.h"
#include "sim/exec/pair_operand.h"
#include "sim/exec/shuffle_sources.h"
#include "sim/state/payload/warp.h"

namespace drywell::sim {
namespace {

// Lanes named in a member mask must execute the instruction together; the warp waits for lanes that have not reached it.
bool members_here(Warp& w, LaneMask members) { return (members & w.alive & ~w.active) == 0; }

Effect check_members(Warp& w, uint32_t members, LaneMask mask) {
  members |= beside_members(w, members, mask);
  if ((mask & ~members) != 0) return fault(w, Code::F3401, fmt::format("lanes {:#010x} execute a .sync instruction whose member mask {:#010x} excludes them", mask & ~members, members));
  if (!members_here(w, members)) return block(w, BlockReason::warp_sync);
  return Effect::next;
}

// Runs f(members, lanes) for every group of lanes with one member mask, once all members of all groups have reached the instruction.
template <class F>
Effect together(Warp& w, Src masks, LaneMask mask, F&& f) {
  const Effect e = for_member_masks(w, masks, mask, [&](uint32_t members, LaneMask group) { return check_members(w, members, group); });
  if (e != Effect::next) return e;
  return for_member_masks(w, masks, mask, [&](uint32_t members, LaneMask group) {
    const LaneMask beside = beside_members(w, members, group);
    f((members | beside) & w.alive, group);
    return Effect::next;
  });
}

Effect elect(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t elected = op.as<payload::PairedPredicate>().predicate;
  return together(w, op.src[0], mask, [&](LaneMask present, LaneMask group) {
    const auto leader = static_cast<uint32_t>(std::countr_zero(present));
    uint32_t r[kWarpSize];
    for (uint32_t& v : r) v = leader;
    store_masked(lanes<uint32_t>(w, op.dst), r, group);
    write_pred(w, elected, 1u << leader, group);
  });
}

/// The lanes that the lanes of a shuffle read, and which of them are in the segment.
struct Sources {
  uint32_t lane[kWarpSize];
  LaneMask in_range = 0;
};
// PTX ISA 9.7.9.6: c packs the segment mask (bits 12..8) and the clamp (bits 4..0).
template <isa::Mod Mode>
Sources sources_of(const uint32_t* b, const uint32_t* c) {
  Sources s;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t bval = b[lane] & 0x1F, cval = c[lane] & 0x1F, segment = (c[lane] >> 8) & 0x1F;
    const uint32_t max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    const uint32_t j = Mode == isa::Mod::up ? lane - bval : Mode == isa::Mod::down ? lane + bval
                                                        : Mode == isa::Mod::bfly   ? lane ^ bval
                                                                                   : min_lane | (bval & ~segment & 0x1F);
    const bool valid = Mode == isa::Mod::up ? static_cast<int32_t>(j) >= static_cast<int32_t>(max_lane) : j <= max_lane;
    s.lane[lane] = (valid ? j : lane) & 31;
    s.in_range |= uint32_t{valid} << lane;
  }
  return s;
}

// A lane that does not execute the shuffle gives 0, as on an H200, whether it has ended, is elsewhere, or its guard is false; PTX leaves the
// value undefined. A lane that executes it gives its value, in the reader's member mask or not.
template <isa::Mod Mode>
Effect shuffle(Warp& w, const DecodedOp& op, LaneMask mask) {
  // The source lane depends only on a lane's operands: groups with different masks need no separate treatment, but each must be complete.
  if (const Effect e = together(w, op.src[3], mask, [](LaneMask, LaneMask) {}); e != Effect::next) return e;
  const uint32_t* a = lanes<uint32_t>(w, op.src[0]);
  const Sources s = sources_of<Mode>(lanes<uint32_t>(w, op.src[1]), lanes<uint32_t>(w, op.src[2]));
  uint32_t r[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) r[lane] = (mask >> s.lane[lane] & 1) != 0 ? a[s.lane[lane]] : 0;
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  write_pred(w, op.as<payload::Shuffle>().in_range, s.in_range, mask);
  return Effect::next;
}

Sources sources_of(isa::Mod mode, const uint32_t* b, const uint32_t* c) {
  switch (mode) {
    case isa::Mod::up: return sources_of<isa::Mod::up>(b, c);
    case isa::Mod::down: return sources_of<isa::Mod::down>(b, c);
    case isa::Mod::bfly: return sources_of<isa::Mod::bfly>(b, c);
    default: return sources_of<isa::Mod::idx>(b, c);
  }
}

bool overwrites(const DecodedOp& op, Src s) { return s.bank == 0 && s.offset == op.dst; }

Effect vote(Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask votes = read_pred(w, op.pred[0]);
  const isa::Mod mode = op.as<payload::Vote>().mode;
  return together(w, op.src[0], mask, [&](LaneMask present, LaneMask group) {
    const LaneMask p = votes & present;
    switch (mode) {
      case isa::Mod::all: return write_pred(w, op.dst, p == present ? kFullMask : 0, group);
      case isa::Mod::any: return write_pred(w, op.dst, p != 0 ? kFullMask : 0, group);
      case isa::Mod::uni: return write_pred(w, op.dst, p == present || p == 0 ? kFullMask : 0, group);
      default: {
        uint32_t r[kWarpSize];
        for (uint32_t& v : r) v = p;
        store_masked(lanes<uint32_t>(w, op.dst), r, group);
      }
    }
  });
}

template <class L>
LaneMask lanes_with(const L* a, L value) {
  LaneMask same = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) same |= LaneMask{a[i] == value} << i;
  return same;
}
template <class L>
Effect match_any(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L* a = lanes<L>(w, op.src[0]);
  return together(w, op.src[1], mask, [&](LaneMask present, LaneMask group) {
    uint32_t r[kWarpSize] = {};
    for (LaneMask left = present; left != 0;) {
      const LaneMask same = lanes_with(a, a[std::countr_zero(left)]) & present;
      for_lanes(same, [&](uint32_t i) { r[i] = same; });
      left &= ~same;
    }
    store_masked(lanes<uint32_t>(w, op.dst), r, group);
  });
}
template <class L>
Effect match_all(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L* a = lanes<L>(w, op.src[0]);
  return together(w, op.src[1], mask, [&](LaneMask present, LaneMask group) {
    const bool all = (present & ~lanes_with(a, a[std::countr_zero(present)])) == 0;
    uint32_t r[kWarpSize];
    for (uint32_t& v : r) v = all ? present : 0;
    store_masked(lanes<uint32_t>(w, op.dst), r, group);
    write_pred(w, op.as<payload::PairedPredicate>().predicate, all ? kFullMask : 0, group);
  });
}

Effect active_mask(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint32_t r[kWarpSize];
  for (uint32_t& v : r) v = mask;
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}

// F combines two 32-bit words.
template <class F>
Effect reduce(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t* a = lanes<uint32_t>(w, op.src[0]);
  return together(w, op.src[1], mask, [&](LaneMask present, LaneMask group) {
    uint32_t total = F::prepare(a[std::countr_zero(present)]);
    for_lanes(present & (present - 1), [&](uint32_t i) { total = F::apply(total, F::prepare(a[i])); });
    total = F::finish(total);
    uint32_t r[kWarpSize];
    for (uint32_t& v : r) v = total;
    store_masked(lanes<uint32_t>(w, op.dst), r, group);
  });
}
struct Plain {
  static uint32_t prepare(uint32_t v) { return v; }
  static uint32_t finish(uint32_t v) { return v; }
};
struct ReduceAdd : Plain {
  static uint32_t apply(uint32_t a, uint32_t b) { return a + b; }
};
struct ReduceAnd : Plain {
  static uint32_t apply(uint32_t a, uint32_t b) { return a & b; }
};
struct ReduceOr : Plain {
  static uint32_t apply(uint32_t a, uint32_t b) { return a | b; }
};
struct ReduceXor : Plain {
  static uint32_t apply(uint32_t a, uint32_t b) { return a ^ b; }
};
template <class T, bool Max>
struct ReduceOrder : Plain {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const bool first = Max ? static_cast<T>(a) > static_cast<T>(b) : static_cast<T>(a) < static_cast<T>(b);
    return first ? a : b;
  }
};
template <bool Max, bool Nan, bool Abs>
struct ReduceFloat {
  static uint32_t prepare(uint32_t v) { return Abs ? v & 0x7FFFFFFFu : v; }
  static uint32_t apply(uint32_t a, uint32_t b) { return std::bit_cast<uint32_t>(min_max<Max, Nan>(std::bit_cast<float>(a), std::bit_cast<float>(b))); }
  static uint32_t finish(uint32_t v) { return std::bit_cast<uint32_t>(canonical(std::bit_cast<float>(v))); }
};

void bind_pair(Decoder& d, DecodedOp& op) {
  const PairOperand result = pair_operand(d, *d.operand(0));
  op.dst = result.value;
  op.emplace<payload::PairedPredicate>({.predicate = result.predicate});
}
void bind_reduction(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), isa::type_bits(d.mod(isa::Slot::type)));
  op.src[1] = d.source(*d.operand(2), 32);
}

}  // namespace

bool is_shuffle(const DecodedOp& op) { return op.get_if<payload::Shuffle>() != nullptr; }
bool is_reduction_of_lanes(const DecodedOp& op) { return isa::spec(op.opcode).timing == isa::TimingClass::redux; }

std::optional<ShuffleSources> shuffle_sources(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (overwrites(op, op.src[1]) || overwrites(op, op.src[2]) || overwrites(op, op.src[3])) return std::nullopt;
  const isa::Mod mode = w.cta->cluster->launch->program->instruction(op).mod(isa::Slot::mode);
  const Sources s = sources_of(mode, lanes<uint32_t>(w, op.src[1]), lanes<uint32_t>(w, op.src[2]));
  const uint32_t* members = lanes<uint32_t>(w, op.src[3]);
  ShuffleSources out;
  for_lanes(mask, [&](uint32_t lane) {
    out.lane[lane] = s.lane[lane];
    const bool executes = (mask >> s.lane[lane] & 1) != 0, member = (members[lane] >> s.lane[lane] & 1) != 0;
    if (!executes) out.absent |= 1u << lane;
    if (executes && !member) out.outside |= 1u << lane;
  });
  return out;
}

template <> ExecFn bind<isa::row::elect_sync>(Decoder& d, DecodedOp& op) {
  bind_pair(d, op);
  op.src[0] = d.source(*d.operand(1), 32);
  return elect;
}
template <> ExecFn bind<isa::row::shfl_sync>(Decoder& d, DecodedOp& op) {
  const PairOperand result = pair_operand(d, *d.operand(0));
  op.dst = result.value;
  for (size_t k = 0; k < 4; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.emplace<payload::Shuffle>({.in_range = result.predicate});
  switch (d.mod(isa::Slot::mode)) {
    case isa::Mod::up: return widest<shuffle<isa::Mod::up>>();
    case isa::Mod::down: return widest<shuffle<isa::Mod::down>>();
    case isa::Mod::bfly: return widest<shuffle<isa::Mod::bfly>>();
    default: return widest<shuffle<isa::Mod::idx>>();
  }
}
template <> ExecFn bind<isa::row::vote_sync>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(*d.operand(0));
  op.pred[0] = d.pred(*d.operand(1));
  op.src[0] = d.source(*d.operand(2), 32);
  op.emplace<payload::Vote>({.mode = d.mod(isa::Slot::mode)});
  return vote;
}
template <> ExecFn bind<isa::row::vote_sync_ballot>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.pred[0] = d.pred(*d.operand(1));
  op.src[0] = d.source(*d.operand(2), 32);
  op.emplace<payload::Vote>({.mode = isa::Mod::ballot});
  return vote;
}

template <> ExecFn bind<isa::row::match_any>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op);
  return d.has(isa::Mod::b64) ? match_any<uint64_t> : match_any<uint32_t>;
}
template <> ExecFn bind<isa::row::match_all>(Decoder& d, DecodedOp& op) {
  bind_pair(d, op);
  op.src[0] = d.source(*d.operand(1), isa::type_bits(d.mod(isa::Slot::type)));
  op.src[1] = d.source(*d.operand(2), 32);
  return d.has(isa::Mod::b64) ? match_all<uint64_t> : match_all<uint32_t>;
}
template <> ExecFn bind<isa::row::activemask>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  return active_mask;
}
template <> ExecFn bind<isa::row::redux_sync>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op);
  const bool is_signed = d.has(isa::Mod::s32);
  if (d.has(isa::Mod::add)) return reduce<ReduceAdd>;
  if (d.has(isa::Mod::max)) return is_signed ? reduce<ReduceOrder<int32_t, true>> : reduce<ReduceOrder<uint32_t, true>>;
  return is_signed ? reduce<ReduceOrder<int32_t, false>> : reduce<ReduceOrder<uint32_t, false>>;
}
template <> ExecFn bind<isa::row::redux_sync_bits>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op);
  return d.has(isa::Mod::and_) ? reduce<ReduceAnd> : d.has(isa::Mod::or_) ? reduce<ReduceOr>
                                                                          : reduce<ReduceXor>;
}
template <> ExecFn bind<isa::row::redux_sync_f32>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op);
  const bool max = d.has(isa::Mod::max), nan = d.has(isa::Mod::NaN), abs = d.has(isa::Mod::abs);
  if (max) {
    if (nan) return abs ? reduce<ReduceFloat<true, true, true>> : reduce<ReduceFloat<true, true, false>>;
    return abs ? reduce<ReduceFloat<true, false, true>> : reduce<ReduceFloat<true, false, false>>;
  }
  if (nan) return abs ? reduce<ReduceFloat<false, true, true>> : reduce<ReduceFloat<false, true, false>>;
  return abs ? reduce<ReduceFloat<false, false, true>> : reduce<ReduceFloat<false, false, false>>;
}

}  // namespace drywell::sim
