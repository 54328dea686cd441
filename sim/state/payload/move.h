// Payloads of mov and cvta.
#pragma once

#include "drywell/isa/instruction.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct SpecialRegister {
  static constexpr PayloadKind kKind = PayloadKind::special_register;
  isa::SpecialReg which{};
  bool wide = false;  // the destination has 64-bit lanes
};

/// mov between a register and a vector of its parts, the first in the low bits.
struct Packing {
  static constexpr PayloadKind kKind = PayloadKind::packing;
  uint32_t first_slot = 0, count = 0;
  uint32_t element_bits = 0;
  bool wide = false;  // the register has more than 32 bits
};

/// Between an address of a state space and a generic one.
struct AddressWindow {
  static constexpr PayloadKind kKind = PayloadKind::address_window;
  uint32_t high = 0;     // high word of the space's generic addresses; 0: global memory
  bool wide = false;     // the source has 64-bit lanes
  bool own_cta = false;  // a shared address without a rank belongs to the own CTA
};

}  // namespace drywell::sim::payload
