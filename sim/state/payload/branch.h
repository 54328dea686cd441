// Payloads of branches.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct Branch {
  static constexpr PayloadKind kKind = PayloadKind::branch;
  uint32_t target = 0;  // pc
};

/// brx.idx: the targets are entries of Program::targets.
struct IndexedBranch {
  static constexpr PayloadKind kKind = PayloadKind::indexed_branch;
  uint32_t first = 0, count = 0;
};

}  // namespace drywell::sim::payload
