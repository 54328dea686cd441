// D of a tile with every product truncated to the alignment window, with one fused multiply-add of doubles per product, in vectors of any
// processor that has them: the sums of sim/numeric/avx512/window_kernels.h (its head says why they are right), for the decoded operands of
// MmaOperand. At most sixteen products, each below 4 quanta of the window's top, fit the 31 bits of a sum; longer rows are summed in parts.
// Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Products of one sum in quanta, sums of a row, and a divisor of the number of products.
inline constexpr unsigned kWindowPart = 16, kWindowParts = 2, kWindowStep = 8;

/// Rows of D that are computed together.
inline constexpr unsigned kWindowRows = 4;

/// False if the host has no fused multiply-add of double vectors: the functions below must not be called then.
bool has_window_sums();

/// The kernels process rows of D a few at a time, and columns as vectors.
enum class PanelSide : uint8_t { rows,
                                 columns };

/// One operand of the sums, with `stride` rows.
struct WindowPanel {
  /// From the arrays of MmaOperand.
  void assign(PanelSide side, const float* from, const int8_t* exponents, unsigned element_count, size_t row_stride);

  size_t stride = 0;
  unsigned k = 0;               // at most kWindowPart * kWindowParts
  std::vector<double> values;   // rows: [row / kWindowRows][k][row % kWindowRows], times 1 + 2^-40. Columns: likewise by vectors, in the order of their interleaving
  std::vector<uint32_t> signs;  // [part][row]: rows: bit k for a negative element k, bit 16 + k for a positive one; columns: exchanged
  std::vector<uint32_t> terms;  // rows: in the order of the values, each exponent in four bytes
};

/// The work of WindowPanel::assign.
struct PanelTask {
  bool columns;
  const float* from;
  const int8_t* exponents;
  size_t stride;
  unsigned k;
  double* values;
  uint32_t* signs;
  uint32_t* terms;  // null for columns
};

/// Rows of A and columns of B; pointers to exponents are to [k][row], `stride` rows apart, as in MmaOperand.
struct WindowProduct {
  const WindowPanel* a;
  const WindowPanel* b;
  const int8_t* b_exponents;  // raw exponents relative to the row's, or kZeroExponent
  const int32_t *a_row_exponents, *b_row_exponents;
  int window;
  bool short_result;  // MmaOutput::f32_rz14
  const uint32_t* c;  // may be d
  uint32_t* d;
  size_t c_stride, d_stride;
};

/// Computes `rows` (at most kWindowRows) rows from `m` and `columns` (a multiple of kColumnMultiple) columns from `n`. The processor must
/// round down (ExactRounding). left[r] becomes a bit for each kColumnMultiple columns of row m + r that are not written: exponents near the ends of
/// float's range, infinities and NaNs in C, sums that overflow.
void window_sums(const WindowProduct& x, unsigned m, unsigned rows, unsigned n, unsigned columns, uint32_t* left);

}  // namespace drywell::numeric
