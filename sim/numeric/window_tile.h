// Whole matrix instructions with the sums of sim/numeric/highway/window_sums.h. Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/plan.h"

namespace drywell::numeric {

/// Computes the part that these sums support. Returns false, with D unchanged, if that is nothing. Unlike the other plans it takes any numbers of
/// rows up to 256.
bool multiply_with_doubles(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);

}  // namespace drywell::numeric
