// Whole matrix instructions of 16- and 32-bit elements by the kernels of window_kernels.h. Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/plan.h"

namespace drywell::numeric {

/// Computes what these kernels can; false if that is nothing at all, and then D is untouched.
bool multiply_in_window(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);

}  // namespace drywell::numeric
