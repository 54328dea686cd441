// Operands of instructions that have more operands than DecodedOp has fields: runs of Program::slots.
#pragma once

#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"

namespace drywell::sim {

/// Number of slots of an address: base, offset, and whether the base has 64-bit lanes.
inline constexpr size_t kAddressSlots = 3;

inline void push_address(Decoder& d, const isa::Operand& o) {
  const Decoder::Address a = d.address(o);
  d.push_slot(a.base);
  d.push_slot(d.constant(static_cast<uint64_t>(a.offset), 64));
  d.push_slot({a.wide ? 1u : 0u, 0});
}
/// Fills the slots of an operand that the instruction does not have.
inline void push_nothing(Decoder& d, size_t slots) {
  for (size_t i = 0; i < slots; ++i) d.push_slot({});
}
/// Address of one lane; a 32-bit base wraps at 32 bits.
inline uint64_t slot_address(const Warp& w, const Src* s, uint32_t lane) {
  const bool wide = s[2].offset != 0;
  const uint64_t a = lane_value(w, s[0], lane, wide) + lane_value(w, s[1], lane, true);
  return wide ? a : static_cast<uint32_t>(a);
}
/// Address of one lane as a shared address, rank << 24 | offset.
inline uint32_t slot_shared_address(const Warp& w, const Src* s, uint32_t lane, bool cluster_space) {
  const uint64_t a = slot_address(w, s, lane);
  return shared_address(w, a, cluster_space || is_shared_generic(a));
}

}  // namespace drywell::sim
