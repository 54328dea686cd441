// One operand of window_sums.h, decoded from its codes. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/numeric/mma_tile.h"
#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Products of one sum in quanta, sums of a row, and a divisor of the number of products.
inline constexpr unsigned kWindowPart = 16, kWindowParts = 2, kWindowStep = 8;
/// Rows of D that are computed together.
inline constexpr unsigned kWindowRows = 4;

/// The kernels process rows of D a few at a time, and columns as vectors.
enum class PanelSide : uint8_t {
  rows,
  columns
};

/// Exponents relative to the row's: from 0 to -kWindowSpan, or less, which count as -kWindowSpan; kWindowZero for zeros. Sums saturate: one of
/// -kWindowSpan or less says only that it is not known, or, if it is kWindowZero, that a factor is zero.
inline constexpr int kWindowSpan = 63, kWindowZero = -128;

/// A decoded operand. Only the parts of the arrays that its rows and K need are written.
struct WindowOperand {
  static constexpr unsigned kMostRows = 256, kMostK = kWindowPart * kWindowParts;
  /// The form that assign() takes.
  static bool fits(const OperandSource& s);
  /// Returns false if an element, or a scale, is infinite or NaN.
  bool assign(PanelSide side, const OperandSource& s);

  unsigned rows, k;
  size_t stride;  // rows, padded
  // Rows: [row / kWindowRows][k][row % kWindowRows], times 1 + 2^-40. Columns: likewise by vectors, in the order of their interleaving.
  alignas(64) double values[kMostRows * kMostK];
  alignas(64) uint32_t terms[kMostRows * kMostK];                     // rows, in the order of the values: each relative exponent in four bytes
  alignas(64) int8_t exponents[kMostRows * kMostK + 2 * kReadSlack];  // columns, [k][row]: relative exponents
  alignas(64) uint32_t signs[kMostRows * kWindowParts];               // [part][row]: rows: bit k for a negative element k, bit 16 + k for a positive one; columns: exchanged
  alignas(64) int32_t row_exponents[kMostRows];                       // with the scale's
};

}  // namespace drywell::numeric
