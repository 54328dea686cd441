// Payload of setmaxnreg.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct SetRegisters {
  static constexpr PayloadKind kKind = PayloadKind::set_registers;
  uint32_t count = 0;
  bool grow = false;  // .inc
};

}  // namespace drywell::sim::payload
