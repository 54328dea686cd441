// Conversions whose registers are wider than their types (PTX ISA 9.4.1).
#pragma once

#include "drywell/core/bits.h"
#include "sim/exec/bind_helpers.h"
#include "sim/state/payload/cvt.h"

namespace drywell::sim {

inline payload::IntShape shape_of(Decoder& d, isa::Mod type, const isa::Operand& o) {
  const unsigned bits = isa::type_bits(type);
  return {static_cast<uint8_t>(bits), static_cast<uint8_t>(o.kind == isa::Operand::Kind::reg ? d.register_bits(o) : bits), isa::is_signed_type(type)};
}

/// The upper half of a register of 128 bits is a run of its own.
inline void write_upper_half(Warp& w, const DecodedOp& op, const payload::IntShape& to, const uint64_t (&v)[kWarpSize], LaneMask mask) {
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to.is_signed && static_cast<int64_t>(v[i]) < 0 ? ~uint64_t{0} : 0;
  store_masked(lanes<uint64_t>(w, op.dst + register_bytes(64)), r, mask);
}

inline void write_ints(Warp& w, const DecodedOp& op, const payload::IntShape& to, const uint64_t (&v)[kWarpSize], LaneMask mask) {
  if (to.register_bits >= 64) {
    store_masked(lanes<uint64_t>(w, op.dst), v, mask);
    if (to.register_bits == 128) write_upper_half(w, op, to, v, mask);
    return;
  }
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = static_cast<uint32_t>(v[i] & low_bits(to.register_bits));
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
}

/// Values of at most 32 bits, side by side: between those in wider registers there are gaps.
inline const uint32_t* side_by_side(const Warp& w, Src s, const payload::IntShape& from, uint32_t (&room)[kWarpSize]) {
  const uint32_t* const at = lanes<uint32_t>(w, s);
  if (from.stride() == 1) return at;
  for (uint32_t i = 0; i < kWarpSize; ++i) room[i] = at[i * from.stride()];
  return room;
}

}  // namespace drywell::sim
