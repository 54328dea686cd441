// D of a tile with every product truncated to the alignment window, with one fused multiply-add of doubles per product, in vectors of any
// processor that has them: the sums of sim/numeric/avx512/window_kernels.h (its head says why they are right), for any format. At most sixteen
// products, each below 4 quanta of the window's top, fit the 31 bits of a sum; longer rows are summed in parts. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/numeric/highway/window_operand.h"

namespace drywell::numeric {

/// False if the host has no fused multiply-add of double vectors: the other functions must not be called then.
bool has_window_sums();

/// Rows of A and columns of B.
struct WindowProduct {
  const WindowOperand* a;
  const WindowOperand* b;
  int window;
  bool short_result;  // MmaOutput::f32_rz14
  const uint32_t* c;  // may be d
  uint32_t* d;
  size_t c_stride, d_stride;
};

/// Computes the rows from `m` on, at most kWindowRows and none behind a multiple of it. The processor must round down (ExactRounding). left[r]
/// becomes a bit for each kColumnMultiple columns of row m + r that are not written: exponents near the ends of float's range, infinities and NaNs in
/// C, sums that overflow, and products that are all far below their rows' largest.
void window_sums(const WindowProduct& x, unsigned m, unsigned rows, uint32_t* left);

}  // namespace drywell::numeric
