// Payload of atomic operations.
#pragma once

#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Atomic {
  static constexpr PayloadKind kKind = PayloadKind::atomic;
  uint32_t first_slot = 0;  // d, b, c, `count` of each
  uint32_t count = 1;
  Space space = Space::generic;
  bool commutes = false;  // an integer reduction whose old value nothing reads: the order of such operations does not matter
};

}  // namespace drywell::sim::payload
