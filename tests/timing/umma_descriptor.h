// The instruction descriptor most timing tests want: kind::f16, bf16 into f32.
#pragma once

#include "drywell/isa/instr_descriptor.h"

namespace drywell::sim {

inline isa::InstrDescriptor bf16_descriptor(unsigned m, unsigned n) {
  isa::InstrDescriptor d;
  d.kind = isa::MmaKind::f16;
  d.m = static_cast<uint16_t>(m);
  d.n = static_cast<uint16_t>(n);
  d.a_type = d.b_type = code_of(isa::MmaKind::f16, isa::MmaElement::bf16);
  d.d_type = static_cast<uint8_t>(isa::MmaAccumulator::f32);
  return d;
}

}  // namespace drywell::sim
