// Whole matrix instructions of 16- and 32-bit elements with the kernels of window_kernels.h. Private to sim/numeric.
#pragma once

#include "sim/numeric/amx/plan.h"

namespace drywell::numeric {

/// Computes the part that these kernels support. Returns false, with D unchanged, if that is nothing.
bool multiply_in_window(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);

}  // namespace drywell::numeric
