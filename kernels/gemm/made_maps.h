// Tensor maps that a grouped launch makes on the device. Private to kernels/gemm.
#pragma once

#include "kernels/gemm/device.h"

namespace drywell::kernels::gemm {

/// One warp's state for the maps that it makes: patterns in shared memory, which it edits and copies to its part of the
/// slot.
struct GemmDevice::MadeMaps {
  isa::Reg staging, current;  // `current`: the slot made latest
  uint32_t first = 0;         // of the warp's maps in a slot
  isa::Reg own;               // bytes from a slot to the warp's maps, if that depends on the warp
};

/// One operand of a problem: fields of its DeviceProblem.
struct GemmDevice::MapTensor {
  size_t pointer = 0, fast = 0, slow = 0;  // address; extent along memory; the other extent
  uint32_t element_bytes = 1;
};

}  // namespace drywell::kernels::gemm
