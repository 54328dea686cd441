// Payload of ldmatrix and stmatrix.
#pragma once

#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct MatrixRows {
  static constexpr PayloadKind kKind = PayloadKind::matrix_rows;
  uint32_t first_slot = 0, count = 0;  // registers
  uint32_t rows = 0;                   // rows whose addresses lanes provide
  uint32_t packed_bits = 0;            // bits of an element packed in memory; 0: not packed
  uint32_t places = 0;                 // stmatrix: index of its place function
  Space space = Space::generic;
};

}  // namespace drywell::sim::payload
