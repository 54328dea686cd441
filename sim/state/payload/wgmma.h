// Payload of wgmma.mma_async.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Wgmma {
  static constexpr PayloadKind kKind = PayloadKind::wgmma;
  uint32_t first_slot = 0;  // registers of d, A's four registers or its descriptor, B's descriptor, the metadata of sparse A
  uint32_t d_count = 0;
  isa::Mod shape = isa::Mod::none;
  isa::Mod a_type = isa::Mod::none, b_type = isa::Mod::none, d_type = isa::Mod::none;
  bool a_in_registers = false;
  bool negate_a = false, negate_b = false, trans_a = false, trans_b = false;
  bool saturate = false;
  bool sparse = false;
  uint8_t selector = 0;  // sparse: lanes that hold the metadata
};

}  // namespace drywell::sim::payload
