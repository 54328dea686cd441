// SIMD kernels of mma_tile.cpp: one row of A times a range of columns (rows of B), compiled for several vector widths and
// chosen at run time (Highway). Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/numeric/mma.h"
#include "sim/numeric/highway/operand_kernels.h"
#include "sim/numeric/highway/tile_layout.h"

namespace drywell::numeric {

/// Maximum number of columns of a call.
inline constexpr unsigned kMaxColumns = 256;

/// Parameters of every kernel beside its operands. C is f32 values (finite; f16 widened), D is f32 values; with f16_rn they
/// are rounded to f16.
struct RowOutput {
  unsigned columns;  // a multiple of kColumnMultiple, <= kMaxColumns
  const float* c;
  float* d;
  int c_min_exponent;  // raw exponent of C's subnormals: -126 or -14
  int c_shift;         // the sum uses c * 2^-c_shift
  int window, floor;
  MmaOutput output;
};

/// group == 1: rows as float with exponents of 8 bits, wide rows as double with exponents of 16 bits. Element k of row r is at
/// k * stride + r on both sides; `a` points to its row, `b` to its first column.
template <class T, class Exponent>
struct AlignedRow {
  const T* a;
  const Exponent* a_exponents;
  size_t a_stride;
  int a_row_exponent;
  const T* b;
  const Exponent* b_exponents;
  size_t b_stride;
  const int32_t* b_row_exponents;
  unsigned k;  // <= 32 for float
};
using FloatRow = AlignedRow<float, int8_t>;
using DoubleRow = AlignedRow<double, int16_t>;

/// group == 16; bytes, biases and scales as in exact_kernels.h.
struct GroupedRow {
  const uint32_t* a;
  const uint32_t* b;
  const uint32_t* a_codes;  // eight elements in a word
  const uint32_t* b_codes;
  size_t a_stride, b_stride;
  unsigned groups;  // <= kMaxGroups
  const int32_t* a_bias;
  const float* a_scales;
  const float* b_scales;
  const int32_t* a_exponents;  // kNoScale if the scale is zero
  const int32_t* b_exponents;
};
inline constexpr unsigned kMaxGroups = 8;

void aligned_row(const FloatRow& row, const RowOutput& out);
void aligned_row(const DoubleRow& row, const RowOutput& out);
void grouped_row(const GroupedRow& row, const RowOutput& out);

}  // namespace drywell::numeric
