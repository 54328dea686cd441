// Payloads of mma.sync.
#pragma once

#include "drywell/isa/mma_shape.h"
#include "drywell/sim/numeric/format.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// Registers of d, a, b, c from a slot on (sparse A: then the metadata), and their formats.
struct Fragments {
  uint32_t first_slot = 0;
  uint8_t d = 0, a = 0, b = 0, c = 0;  // registers of each
  isa::MmaShape shape;
  uint8_t bits = 0;      // of an element of A and B
  uint8_t selector = 0;  // sparse A: lanes that hold the metadata
};

struct MmaFloat {
  static constexpr PayloadKind kKind = PayloadKind::mma_float;
  Fragments fragments;
  uint32_t row = 0;  // of numeric::mma_rows()
  numeric::Format a = numeric::Format::f16, b = numeric::Format::f16;
};

/// The kinds of sm_120. Behind the fragments' slots: scale_a, byte and thread of A, scale_b, byte and thread
/// of B, if there are scales.
struct MmaKind {
  static constexpr PayloadKind kKind = PayloadKind::mma_kind;
  MmaFloat product;
  uint8_t a_shift = 0, b_shift = 0;  // an element's place in its byte
  uint8_t factors = 0;               // scales of a row; 0: none
  bool sparse = false;
  numeric::Format scale = numeric::Format::ue8m0;
};

/// m8n8k4 of f16.
struct MmaQuads {
  static constexpr PayloadKind kKind = PayloadKind::mma_quads;
  MmaFloat product;
  bool a_by_rows = false, b_by_columns = false;
  bool half_c = false, half_d = false;  // f16, not f32
};

struct MmaInteger {
  static constexpr PayloadKind kKind = PayloadKind::mma_integer;
  Fragments fragments;
  bool a_signed = false, b_signed = false;
  bool saturate = false;
};

struct MmaBits {
  static constexpr PayloadKind kKind = PayloadKind::mma_bits;
  Fragments fragments;
  bool by_and = false;  // true: and; false: exclusive or
};

struct MmaDouble {
  static constexpr PayloadKind kKind = PayloadKind::mma_double;
  Fragments fragments;
  isa::Mod rounding = isa::Mod::none;
};

}  // namespace drywell::sim::payload
