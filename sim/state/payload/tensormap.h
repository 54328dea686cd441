// Payloads of instructions that edit a tensor map.
#pragma once

#include "drywell/isa/tensor_map.h"
#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// tensormap.replace.
struct TensorMapEdit {
  static constexpr PayloadKind kKind = PayloadKind::tensor_map_edit;
  Space space = Space::generic;
  isa::TensorMapField field = isa::TensorMapField::global_address;
  uint8_t shift = 0;  // of the value
  uint32_t ordinal = 0;
};

/// tensormap.cp_fenceproxy.
struct TensorMapCopy {
  static constexpr PayloadKind kKind = PayloadKind::tensor_map_copy;
  uint32_t first_slot = 0;  // of two addresses: in global memory (written), in shared memory (read)
};

}  // namespace drywell::sim::payload
