// Payload of waits for groups of asynchronous operations.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct GroupWait {
  static constexpr PayloadKind kKind = PayloadKind::group_wait;
  uint64_t allowed = 0;     // groups that may be in flight
  bool reads_only = false;  // .read: wait only until the operations have read their sources
};

}  // namespace drywell::sim::payload
