// Payload of getctarank.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct RankOfAddress {
  static constexpr PayloadKind kKind = PayloadKind::rank_of_address;
  bool generic = false;
};

}  // namespace drywell::sim::payload
