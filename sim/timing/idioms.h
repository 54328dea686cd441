// Which PTX instructions of a function cost nothing because ptxas folds them into others. The list is short,
// and every entry is a form the SASS of real kernels shows; docs/function-vs-time.md explains each. Function
// is untouched: a folded instruction still executes.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::sim {

/// One entry per instruction of the body: non-zero if it is folded.
std::vector<uint8_t> folded_instructions(const isa::Function& f);

}  // namespace drywell::sim
