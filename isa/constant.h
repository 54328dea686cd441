// Values of constant expressions and their arithmetic (PTX ISA 4.5): signed and unsigned 64-bit integers, and double
// precision. Where the PTX ISA leaves a case open, the result follows ptxas 13.0.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

struct Constant {
  uint64_t bits = 0;
  bool is_unsigned = false;
  ImmKind kind = ImmKind::decimal;
  bool is_float() const { return kind == ImmKind::f32 || kind == ImmKind::f64; }
};

struct BinaryOperator {
  std::string_view text;
  int precedence;  // higher binds tighter
};
/// Returns the operator that begins with these two characters, or nullptr.
const BinaryOperator* find_binary_operator(char first, char second);

/// An operator does not accept its operands; `what()` is the message for the user.
struct ConstantError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// These throw ConstantError.
Constant apply_unary(char op, Constant a);
Constant apply_binary(std::string_view op, const Constant& a, const Constant& b);
Constant cast_constant(Constant a, bool to_unsigned);
Constant choose_constant(const Constant& condition, const Constant& yes, const Constant& no);

}  // namespace drywell::isa
