// Payload of copies through a tensor map.
#pragma once

#include "drywell/isa/mods.h"
#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct TensorCopy {
  static constexpr PayloadKind kKind = PayloadKind::tensor_copy;
  uint32_t first_slot = 0;  // map, shared memory, mbarrier (addresses), multicast mask, coordinates, im2col offsets
  uint32_t coordinates = 0, offsets = 0;
  uint32_t rank = 0;
  isa::Mod mode = isa::Mod::tile, reduce_op = isa::Mod::none;
  Space map_space = Space::generic;
  uint8_t cta_group = 0;       // CTAs; 0: unspecified
  bool cluster_space = false;  // shared addresses are .shared::cluster
  bool multicast = false;
};

}  // namespace drywell::sim::payload
