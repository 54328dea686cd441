// Payload of the named barriers that threads wait at.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Barrier {
  static constexpr PayloadKind kKind = PayloadKind::barrier;
  bool reduces = false;  // pred[0]
  bool aligned = false;  // .aligned, or bar.sync: lanes may come from several places all the same
};

}  // namespace drywell::sim::payload
