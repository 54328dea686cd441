// Payloads of exchanges and votes between the lanes of a warp.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// The predicate of a destination d|p.
struct PairedPredicate {
  static constexpr PayloadKind kKind = PayloadKind::paired_predicate;
  uint32_t predicate = 0;
};

struct Shuffle {
  static constexpr PayloadKind kKind = PayloadKind::shuffle;
  uint32_t in_range = 0;  // predicate: the source lane is in the segment
};

struct Vote {
  static constexpr PayloadKind kKind = PayloadKind::vote;
  isa::Mod mode = isa::Mod::none;
};

}  // namespace drywell::sim::payload
