// Structural comparison of modules, for round trips.
#pragma once

#include <string>

#include "drywell/isa/instruction.h"

namespace drywell::test {

/// What differs first between two modules, in words; empty if nothing does. Lines of the PTX text (ptx_line)
/// and warp roles, which PTX text cannot say, are not compared.
std::string first_difference(const isa::Module& a, const isa::Module& b);

}  // namespace drywell::test
