// Structural comparison of modules, for round trips.
#pragma once

#include <string>

#include "drywell/isa/instruction.h"

namespace drywell::test {

/// The first difference between two modules, in words; empty if they are equal. Lines of the PTX text (ptx_line)
/// and warp roles, which PTX text cannot express, are not compared.
std::string first_difference(const isa::Module& a, const isa::Module& b);

}  // namespace drywell::test
