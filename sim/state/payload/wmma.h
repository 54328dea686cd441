// Payloads of wmma.
#pragma once

#include "drywell/isa/mods.h"
#include "drywell/isa/wmma_shape.h"
#include "drywell/sim/numeric/format.h"
#include "drywell/sim/space.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// Loads and stores.
struct WmmaAccess {
  static constexpr PayloadKind kKind = PayloadKind::wmma_access;
  uint32_t first_slot = 0, count = 0;  // registers
  uint32_t bits = 0;                   // of an element
  isa::WmmaMatrix matrix = isa::WmmaMatrix::a;
  isa::Mod shape = isa::Mod::none;
  bool by_columns = false, has_stride = false;
  Space space = Space::generic;
};

struct WmmaProduct {
  static constexpr PayloadKind kKind = PayloadKind::wmma_product;
  uint32_t first_slot = 0;             // registers of d, a, b, c
  uint8_t d = 0, a = 0, b = 0, c = 0;  // number of registers of each
  isa::Mod shape = isa::Mod::none;
  bool half_c = false, half_d = false;  // f16, not f32
  uint32_t bits = 0;                    // of an element of A and B
  bool integer = false;
  bool is_signed = false, saturate = false;       // integers
  bool by_and = false;                            // bits: and, not exclusive or
  isa::Mod rounding = isa::Mod::none;             // of doubles
  numeric::Format format = numeric::Format::f16;  // floats: of A and B
  uint32_t row = 0;                               // floats: of numeric::mma_rows()
};

}  // namespace drywell::sim::payload
