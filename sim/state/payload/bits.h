// Payloads of bit manipulation and of dot products of bytes.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct DotProduct {
  static constexpr PayloadKind kKind = PayloadKind::dot_product;
  uint32_t shift = 0;  // of b: the instruction uses its upper half
};

struct TruthTable {
  static constexpr PayloadKind kKind = PayloadKind::truth_table;
  uint32_t table = 0;
  uint32_t predicate = 0;  // of a destination d|p
};

struct BytePermutation {
  static constexpr PayloadKind kKind = PayloadKind::byte_permutation;
  enum class Mode : uint8_t {
    f4e,
    b4e,
    rc8,
    ecl,
    ecr,
    rc16
  } mode = Mode::f4e;
};

}  // namespace drywell::sim::payload
