// Approximate quotients as ptxas computes them: the reciprocal of the divisor times the dividend (docs/facts/special-functions.md).
#pragma once

#include <utility>

#include "drywell/isa/instruction.h"
#include "isa/emit.h"

namespace drywell::isa {

/// Makes each approximate quotient by a constant a product with the constant's reciprocal, rounded to nearest.
void multiply_by_reciprocals(Function& f);

/// Appends the instructions before the last one of quotient `q`, and returns the factors of that one.
std::pair<Operand, Operand> quotient_factors(const Function& f, const Instruction& q, Emitter& emit);

}  // namespace drywell::isa
