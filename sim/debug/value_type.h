// Element types in which a user can print registers and memories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drywell/isa/mods.h"
#include "drywell/sim/numeric/format.h"

namespace drywell::sim {

/// "u32", "f16x2", "e2m1" (packed, two to a byte), "hex", …
struct ValueType {
  enum class Kind : uint8_t {
    hex,
    unsigned_integer,
    signed_integer,
    format,
    f64
  } kind = Kind::hex;
  uint8_t bits = 32;                              // of one element
  uint8_t elements = 1;                           // f16x2: 2
  numeric::Format format = numeric::Format::f32;  // Kind::format
  std::string name = "b32";

  unsigned total_bits() const { return unsigned{bits} * elements; }
};

/// Throws InputError E4321 for a name that is not a type.
ValueType parse_value_type(std::string_view name);
/// Default type in which a register of that declared type is printed.
ValueType type_of_register(isa::Mod declared);

/// Elements of x2 types as "(low, high)".
std::string print_value(const ValueType& t, uint64_t bits);
/// One element as a number, for conditions.
double value_as_double(const ValueType& t, uint64_t bits);

}  // namespace drywell::sim
