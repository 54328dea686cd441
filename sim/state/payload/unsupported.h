// Payload of instructions that cannot run.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Unsupported {
  static constexpr PayloadKind kKind = PayloadKind::unsupported;
  uint32_t reason = 0;  // index into Program::unsupported
};

}  // namespace drywell::sim::payload
