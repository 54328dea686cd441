// Payload of bulk copies.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct BulkCopy {
  static constexpr PayloadKind kKind = PayloadKind::bulk_copy;
  uint32_t first_slot = 0;     // destination, source, mbarrier (addresses), size, multicast mask, byte mask
  bool cluster_space = false;  // the destination is .shared::cluster
  bool multicast = false, byte_mask = false;
  isa::Mod reduce_op = isa::Mod::none, reduce_type = isa::Mod::none;
};

}  // namespace drywell::sim::payload
