// Declarations shared by the semantics of the tcgen05 rows.
#pragma once

#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"

namespace drywell::sim {

inline uint8_t cta_group_of(Decoder& d) { return d.has(isa::Mod::cta_group_2) ? 2 : 1; }

/// Latches the CTA's cta_group (PTX ISA 9.7.16.2: one value for all tcgen05 instructions of a kernel) and
/// checks that a pair has both CTAs. An operation on the peer's memories needs a peer that has not exited.
enum class Peer : uint8_t {
  may_have_ended,
  alive
};
Effect use_cta_group(Warp& w, uint32_t group, Peer peer = Peer::may_have_ended);

/// The operand with the name `name` in the row, or nullptr if this instruction does not have it.
const isa::Operand* named_operand(Decoder& d, std::string_view name);

/// A 32-bit address operand as two slots of the program (base and offset), for instructions with several of
/// them.
void push_tmem_address(Decoder& d, const isa::Operand& o);
/// The lane's address from the slots at `s`.
inline uint32_t slot_address(const Warp& w, const Src* s, uint32_t lane) {
  return static_cast<uint32_t>(lane_value(w, s[0], lane, false) + lane_value(w, s[1], lane, true));
}

}  // namespace drywell::sim
