// Payloads of cluster launch control.
#pragma once

#include <array>

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct TryCancel {
  static constexpr PayloadKind kKind = PayloadKind::try_cancel;
  uint32_t first_slot = 0;  // response, mbarrier (addresses)
  bool multicast = false;
};

struct FirstCta {
  static constexpr PayloadKind kKind = PayloadKind::first_cta;
  uint32_t first_slot = 0;       // destinations of x, y, z
  std::array<bool, 3> wanted{};  // the destinations that the instruction has
};

}  // namespace drywell::sim::payload
