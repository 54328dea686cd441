// Payload of arithmetic with carry.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Carry {
  static constexpr PayloadKind kKind = PayloadKind::carry;
  uint32_t flag = 0;  // predicate that holds CC.CF
  bool reads = false, writes = false;
  bool otherwise = false;  // carry-in when the flag is not read
};

}  // namespace drywell::sim::payload
