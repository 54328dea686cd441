// Payload of f16 and bf16 arithmetic.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// The modifiers of the instruction.
struct Half {
  static constexpr PayloadKind kKind = PayloadKind::half;
  bool ftz = false, sat = false, relu = false, oob = false;
  bool nan = false, xorsign = false;
};

}  // namespace drywell::sim::payload
