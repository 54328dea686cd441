// Payloads of conversions.
#pragma once

#include "drywell/core/bits.h"
#include "drywell/sim/numeric/convert.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// An integer in flight is 64 bits and a sign; registers may be wider than the type (PTX ISA 9.4.1).
struct IntShape {
  uint8_t bits = 32, register_bits = 32;
  bool is_signed = false;
  /// True if the register's lanes have more bits than the value has, so that it is extended.
  bool is_wide() const { return register_bits > 64 || (register_bits == 64 && bits < 64); }
  /// Distance of the lanes, in lanes of the value's own width.
  uint32_t stride() const { return register_bits >= 64 && bits <= 32 ? 2 : 1; }
  uint64_t extended(uint64_t v) const {
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(v << (64 - bits)) >> (64 - bits)) : v & low_bits(bits);
  }
};

/// Between integers and scalar floats.
struct Conversion {
  static constexpr PayloadKind kKind = PayloadKind::conversion;
  IntShape from, to;
  numeric::Rounding rounding = numeric::Rounding::rn;
  numeric::Format format = numeric::Format::f32;  // of a float destination
  bool f64 = false;                               // the float is one of 64 bits
  bool ftz = false, sat = false, satfinite = false, relu = false;
};

/// To or from narrow floats, of each element.
struct NarrowConversion {
  static constexpr PayloadKind kKind = PayloadKind::narrow_conversion;
  numeric::ConvertSpec spec;
  uint32_t first_slot = 0;   // of a vector of four sources
  IntShape to{}, from[2]{};  // of registers that are wider than their types
};

struct SaturatingPack {
  static constexpr PayloadKind kKind = PayloadKind::saturating_pack;
  uint32_t bits = 0;  // of an element
  bool is_signed = false;
  IntShape to{}, from[3]{};
};

}  // namespace drywell::sim::payload
