// Destinations written d|p.
#pragma once

#include "sim/exec/decoder.h"

namespace drywell::sim {

/// d|p: op.dst and predicate op.dst2; a bare d leaves the predicate to the sink.
inline void bind_pair(Decoder& d, DecodedOp& op, const isa::Operand& o) {
  if (o.kind == isa::Operand::Kind::pair) {
    op.dst = d.dest(d.elements(o)[0]);
    op.dst2 = d.dest_pred(d.elements(o)[1]);
  } else {
    op.dst = d.dest(o);
    op.dst2 = d.sink_pred();
  }
}

}  // namespace drywell::sim
