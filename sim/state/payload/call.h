// Payload of calls.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Call {
  static constexpr PayloadKind kKind = PayloadKind::call;
  uint32_t site = 0;  // index into Program::calls
};

}  // namespace drywell::sim::payload
