// Payload of arithmetic in a directed rounding mode.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Rounding {
  static constexpr PayloadKind kKind = PayloadKind::rounding;
  isa::Mod mode = isa::Mod::none;
};

}  // namespace drywell::sim::payload
