// Kinds of elements as tensor maps and the tensor core distinguish them: a copy does not convert.
#pragma once

#include <cstdint>

#include "drywell/isa/tensor_map.h"
#include "sim/state/async_op.h"

namespace drywell::sim::check {

/// The bit of the kind that a map names; 0 for integers and bytes, which stand for anything.
uint8_t elements_of(isa::TensorType type);
/// The bits of the kinds of operands that come from shared memory.
uint8_t elements_of(const Umma& u);
uint8_t elements_of(const Wgmma& m);

}  // namespace drywell::sim::check
