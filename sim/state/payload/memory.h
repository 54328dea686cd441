// Payloads of loads, stores and prefetches.
#pragma once

#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Access {
  static constexpr PayloadKind kKind = PayloadKind::access;
  uint32_t first_slot = 0, count = 0;  // registers
  uint32_t element = 0;                // bytes in memory
  uint32_t reg_bits = 32;
  bool is_signed = false;
  Space space = Space::generic;
};

struct MapPrefetch {
  static constexpr PayloadKind kKind = PayloadKind::map_prefetch;
  Space space = Space::generic;
};

}  // namespace drywell::sim::payload
