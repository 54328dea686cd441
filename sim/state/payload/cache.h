// Payload of createpolicy.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct CachePolicy {
  static constexpr PayloadKind kKind = PayloadKind::cache_policy;
  uint64_t bits = 0;  // of the policy, without its fraction
};

}  // namespace drywell::sim::payload
