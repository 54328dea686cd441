// Payload of ldmatrix and stmatrix.
#pragma once

#include "sim/state/payload/kind.h"
#include "drywell/sim/space.h"

namespace drywell::sim::payload {

struct MatrixRows {
  static constexpr PayloadKind kKind = PayloadKind::matrix_rows;
  uint32_t first_slot = 0, count = 0;  // registers
  uint32_t rows = 0;                   // that lanes name
  uint32_t packed_bits = 0;            // of elements packed in memory; 0: none are
  Space space = Space::generic;
};

}  // namespace drywell::sim::payload
