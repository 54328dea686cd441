// Payload of tcgen05.mma.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Umma {
  static constexpr PayloadKind kKind = PayloadKind::umma;
  uint32_t first_slot = 0;  // of the operands in the order of sim/exec/tcgen05_mma.cpp
  isa::Mod kind = isa::Mod::none, collector = isa::Mod::none;
  uint8_t cta_group = 1;  // CTAs
  bool a_in_tmem = false;
  bool ws = false, sparse = false, ashift = false;
  uint8_t scale_d = 0;        // D · 2^-scale_d before the add
  uint8_t scale_vec = 0;      // factors per row and instruction: 1, 2, 4; 0: not block scaled
  uint8_t disable_words = 0;  // words of the mask of lanes that are not written
};

}  // namespace drywell::sim::payload
