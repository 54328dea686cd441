// Payload of the named barriers that threads wait at.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Barrier {
  static constexpr PayloadKind kKind = PayloadKind::barrier;
  bool reduces = false;  // pred[0]
};

}  // namespace drywell::sim::payload
