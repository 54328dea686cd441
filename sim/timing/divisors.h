// Integer quotients of up to 32 bits are products with the divisor's reciprocal. ptxas takes it once for a divisor, and before a loop that does not change
// it, unless only some passes through the loop divide (ptxas 13.0 for sm_90a; div.u32 of divide.toml of tests/corpus/timing/mechanisms).
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/registers.h"

namespace drywell::sim {

/// For each instruction: 1 if it is an integer quotient or remainder of up to 32 bits that takes its divisor's reciprocal.
std::vector<uint8_t> takes_reciprocal(const isa::Function& f, const std::vector<isa::Registers>& registers);

}  // namespace drywell::sim
