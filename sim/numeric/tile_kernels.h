// SIMD kernels of mma_tile.cpp: one row of A against a range of columns (rows of B), compiled for several
// vector widths and chosen at run time (Highway). Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/numeric/mma.h"

namespace drywell::numeric {

/// Columns are processed in multiples of this: the widest vector of 16-bit lanes.
inline constexpr unsigned kColumnMultiple = 32;
/// At most this many columns a call.
inline constexpr unsigned kMaxColumns = 256;
/// Relative raw exponent of a zero element; the sum of two still fits 16 bits, and no real product comes
/// near.
inline constexpr int kZeroExponent = -12000;
/// A row whose raw exponents span more than this is `wide`: products of two such rows would leave float's
/// range.
inline constexpr int kMaxFloatSpan = 46;

/// What every kernel needs beside its operands. C is given as f32 values (finite; f16 widened), D comes back
/// as f32 values; f16_rn yields values rounded to f16.
struct RowOutput {
  unsigned columns;  // a multiple of kColumnMultiple, <= kMaxColumns
  const float* c;
  float* d;
  int c_min_exponent;  // raw exponent of C's subnormals: -126 or -14
  int c_shift;         // C enters as c * 2^-c_shift
  int window, floor;
  MmaOutput output;
};

/// group == 1. T is float, or double for wide rows.
template <class T>
struct AlignedRow {
  const T* a;
  const int16_t* a_exponents;
  int a_row_exponent;
  const T* b;  // element k of column n at k * stride + n, exponents alike
  const int16_t* b_exponents;
  size_t stride;
  const int32_t* b_row_exponents;
  unsigned k;  // <= 32 for float
};

/// group == 16.
struct GroupedRow {
  const int16_t* a;
  const int16_t* b;
  size_t stride;
  unsigned groups;         // <= kMaxGroups
  const double* a_scales;  // [group], the factor 1/4 of the doubled values included
  const double* b_scales;  // [group][column]
  const int16_t* a_exponents;
  const int16_t* b_exponents;
  const uint16_t* a_masks;
  const uint16_t* b_masks;
};
inline constexpr unsigned kMaxGroups = 8;

void aligned_row(const AlignedRow<float>& row, const RowOutput& out);
void aligned_row(const AlignedRow<double>& row, const RowOutput& out);
void grouped_row(const GroupedRow& row, const RowOutput& out);

}  // namespace drywell::numeric
