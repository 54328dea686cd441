// Destinations written d|p.
#pragma once

#include "sim/exec/decoder.h"

namespace drywell::sim {

struct PairOperand {
  uint32_t value, predicate;
};
/// If the operand is a bare d, the predicate is written to the sink.
inline PairOperand pair_operand(Decoder& d, const isa::Operand& o) {
  if (o.kind != isa::Operand::Kind::pair) return {d.dest(o), d.sink_pred()};
  return {d.dest(d.elements(o)[0]), d.dest_pred(d.elements(o)[1])};
}

}  // namespace drywell::sim
