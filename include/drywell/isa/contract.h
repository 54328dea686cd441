// Fused multiply-adds that ptxas makes: a product and a sum without rounding modifiers may be one fma (PTX ISA 9.7.3.3), which rounds
// once. Where ptxas does so was read off the machine code of ptxas 13.4 for sm_90a (docs/numerics.md).
#pragma once

#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// A sum that takes a product in. Indices into the body.
struct Contraction {
  uint32_t product = 0, sum = 0;  // the instructions
  /// Operand of the sum that is the product: 1 or 2.
  uint32_t operand = 0;
  /// The product passes through an odd number of sign flips on its way.
  bool negated = false;
};

/// Returns the contractions of `f`, in the order of the sums. All sums of a product have one, or none of them.
std::vector<Contraction> contractions(const Function& f);

/// Returns the module with an fma for every contraction, without the products and without instructions that compute nothing used. Values differ in the last bit from PTX's own.
Module contracted(Module m);

}  // namespace drywell::isa
