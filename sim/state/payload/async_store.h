// Payload of st.async and red.async.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct AsyncStore {
  static constexpr PayloadKind kKind = PayloadKind::async_store;
  uint32_t first_slot = 0;  // address, mbarrier (addresses), values
  uint8_t elements = 1, element_bytes = 4;
  isa::Mod reduce_op = isa::Mod::none, type = isa::Mod::none;
  bool global = false;
  bool cluster_space = false;  // the addresses are .shared::cluster
};

}  // namespace drywell::sim::payload
