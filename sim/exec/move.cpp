// Semantics of table/move.inc: copies, packing, special registers, address conversion.
#include "sim/state/payload/move.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/special.h"

namespace drywell::sim {
namespace {

template <class L>
Effect copy(Warp& w, const DecodedOp& op, LaneMask mask) {
  store_masked(lanes<L>(w, op.dst), lanes<L>(w, op.src[0]), mask);
  return Effect::next;
}
Effect copy128(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto* a = reinterpret_cast<const uint64_t*>(w.bank[op.src[0].bank] + op.src[0].offset);
  auto* d = reinterpret_cast<uint64_t*>(w.bank[0] + op.dst);
  store_masked(d, a, mask);
  store_masked(d + kWarpSize, a + kWarpSize, mask);
  return Effect::next;
}
Effect copy_pred(Warp& w, const DecodedOp& op, LaneMask mask) {
  write_pred(w, op.dst, read_pred(w, op.pred[0]), mask);
  return Effect::next;
}

Effect special(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint64_t v[kWarpSize];
  const auto [which, wide] = op.as<payload::SpecialRegister>();
  read_special(w, which, v);
  if (wide) {
    store_masked(lanes<uint64_t>(w, op.dst), v, mask);
  } else {
    uint32_t v32[kWarpSize];
    for (uint32_t i = 0; i < kWarpSize; ++i) v32[i] = static_cast<uint32_t>(v[i]);
    store_masked(lanes<uint32_t>(w, op.dst), v32, mask);
  }
  return Effect::next;
}

uint64_t* wide_lanes(Warp& w, Src s, uint32_t run) { return reinterpret_cast<uint64_t*>(w.bank[s.bank] + s.offset) + run * kWarpSize; }

// b128 from or to four b32: two words of each run.
Effect pack128(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Src* slots = slots_at(w, op.as<payload::Packing>().first_slot);
  uint64_t r[2][kWarpSize];
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t *low = lanes<uint32_t>(w, slots[2 * k]), *high = lanes<uint32_t>(w, slots[2 * k + 1]);
    for (uint32_t i = 0; i < kWarpSize; ++i) r[k][i] = low[i] | uint64_t{high[i]} << 32;
  }
  for (uint32_t k = 0; k < 2; ++k) store_masked(wide_lanes(w, {op.dst, 0}, k), r[k], mask);
  return Effect::next;
}
Effect unpack128(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Src* slots = slots_at(w, op.as<payload::Packing>().first_slot);
  for (uint32_t k = 0; k < 4; ++k) {
    const uint64_t* run = wide_lanes(w, op.src[0], k / 2);
    uint32_t r[kWarpSize];
    for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = static_cast<uint32_t>(run[i] >> (32 * (k % 2)));
    store_masked(lanes<uint32_t>(w, slots[k].offset), r, mask);
  }
  return Effect::next;
}

Effect pack(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::Packing>();
  const Src* slots = slots_at(w, x.first_slot);
  const uint32_t bits = x.element_bits;
  uint64_t r[kWarpSize] = {};
  if (bits == 64) {  // b128 from two b64
    for (uint32_t k = 0; k < 2; ++k) store_masked(reinterpret_cast<uint64_t*>(w.bank[0] + op.dst) + k * kWarpSize, wide_lanes(w, slots[k], 0), mask);
    return Effect::next;
  }
  const uint64_t keep = (uint64_t{1} << bits) - 1;
  for (uint32_t k = 0; k < x.count; ++k) {
    const auto* a = reinterpret_cast<const uint32_t*>(w.bank[slots[k].bank] + slots[k].offset);
    for (uint32_t i = 0; i < kWarpSize; ++i) r[i] |= (a[i] & keep) << (k * bits);
  }
  if (x.wide) {
    store_masked(lanes<uint64_t>(w, op.dst), r, mask);
    return Effect::next;
  }
  uint32_t r32[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r32[i] = static_cast<uint32_t>(r[i]);
  store_masked(lanes<uint32_t>(w, op.dst), r32, mask);
  return Effect::next;
}
Effect unpack(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::Packing>();
  const Src* slots = slots_at(w, x.first_slot);
  const uint32_t bits = x.element_bits;
  uint64_t v[2 * kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) v[i] = lane_value(w, op.src[0], i, x.wide);
  if (bits == 64) {
    for (uint32_t i = 0; i < kWarpSize; ++i) v[kWarpSize + i] = wide_lanes(w, op.src[0], 1)[i];
    for (uint32_t k = 0; k < 2; ++k) store_masked(wide_lanes(w, slots[k], 0), v + k * kWarpSize, mask);
    return Effect::next;
  }
  const uint64_t keep = (uint64_t{1} << bits) - 1;
  for (uint32_t k = 0; k < x.count; ++k) {
    uint32_t r[kWarpSize];
    for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = static_cast<uint32_t>((v[i] >> (k * bits)) & keep);
    store_masked(reinterpret_cast<uint32_t*>(w.bank[0] + slots[k].offset), r, mask);
  }
  return Effect::next;
}

template <bool To>
Effect convert_address(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::AddressWindow>();
  const uint64_t high = uint64_t{x.high} << 32;
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint64_t a = lane_value(w, op.src[0], i, x.wide);
    r[i] = x.high == 0 ? a : To ? static_cast<uint32_t>(a)
                                : high | static_cast<uint32_t>(a);
  }
  if (!To && x.own_cta) {
    // A generic address contains the CTA's rank; a bare .shared::cta offset is in the executing CTA, a bare .shared::cluster offset in rank 0.
    for (uint64_t& v : r) {
      if (shared_rank(static_cast<uint32_t>(v)) == 0) v |= cluster_address(w.cta->rank, 0);
    }
  }
  store_masked(lanes<uint64_t>(w, op.dst), r, mask);
  return Effect::next;
}

uint32_t window_of(isa::Mod space) {
  using isa::Mod;
  switch (space) {
    case Mod::shared:
    case Mod::shared_cta:
    case Mod::shared_cluster: return window::kSharedHigh;
    case Mod::local: return window::kLocalHigh;
    case Mod::param:
    case Mod::param_entry: return window::kParamHigh;
    default: return 0;
  }
}

ExecFn bind_cvta(Decoder& d, DecodedOp& op, bool to) {
  if (d.has(isa::Mod::u32)) throw Unsupported("32-bit generic addresses");
  op.dst = d.dest(*d.operand(0));
  const isa::Operand& a = *d.operand(1);
  op.src[0] = d.source(a, 64);
  const uint32_t high = window_of(d.mod(isa::Slot::space));
  op.emplace<payload::AddressWindow>({.high = high, .wide = !(a.kind == isa::Operand::Kind::reg && d.register_bits(a) == 32), .own_cta = high == window::kSharedHigh && !d.has(isa::Mod::shared_cluster)});
  return to ? convert_address<true> : convert_address<false>;
}

}  // namespace

template <> ExecFn bind<isa::row::mov>(Decoder& d, DecodedOp& op) {
  const isa::Operand &dst = *d.operand(0), &a = *d.operand(1);
  const unsigned bits = isa::type_bits(d.mod(isa::Slot::type));
  if (d.has(isa::Mod::pred)) {
    op.dst = d.dest_pred(dst);
    op.pred[0] = d.pred(a);
    return copy_pred;
  }
  if (dst.kind == isa::Operand::Kind::vec) {
    const unsigned element = bits / dst.count;
    op.src[0] = d.source(a, bits);
    op.emplace<payload::Packing>({.first_slot = d.vector(dst, element), .count = dst.count, .element_bits = element, .wide = bits > 32});
    return bits == 128 && element == 32 ? unpack128 : unpack;
  }
  op.dst = d.dest(dst);
  if (a.kind == isa::Operand::Kind::vec) {
    const unsigned element = bits / a.count;
    op.emplace<payload::Packing>({.first_slot = d.vector(a, element), .count = a.count, .element_bits = element, .wide = bits > 32});
    return bits == 128 && element == 32 ? pack128 : pack;
  }
  if (a.kind == isa::Operand::Kind::special) {
    op.emplace<payload::SpecialRegister>({.which = static_cast<isa::SpecialReg>(a.index), .wide = bits > 32});
    return special;
  }
  op.src[0] = d.source(a, bits);
  return bits == 128 ? copy128 : bits > 32 ? widest<copy<uint64_t>>()
                                           : widest<copy<uint32_t>>();
}
template <> ExecFn bind<isa::row::cvta>(Decoder& d, DecodedOp& op) { return bind_cvta(d, op, false); }
template <> ExecFn bind<isa::row::cvta_to>(Decoder& d, DecodedOp& op) { return bind_cvta(d, op, true); }

}  // namespace drywell::sim
