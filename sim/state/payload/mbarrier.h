// Payload of mbarrier operations.
#pragma once

#include "sim/state/mbarrier.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Mbarrier {
  static constexpr PayloadKind kKind = PayloadKind::mbarrier;
  bool cluster_space = false;  // the address is .shared::cluster
  bool no_complete = false;
  MbarrierOp what = MbarrierOp::arrive;  // of arrivals
};

}  // namespace drywell::sim::payload
