// One matrix instruction as a tile: D[M x N] = C + A[M x K] * B[N x K]^T, bit-identical to `dot` of mma.h for
// every element, and fast. Operands are decoded once (MmaOperand) and may be reused by any number of tiles
// with the same parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drywell/sim/numeric/mma.h"

namespace drywell::numeric {

/// How the codes of one row lie in memory, little-endian; nibbles: element 0 in bits 3..0 of the first byte.
enum class CodeStorage : uint8_t { nibbles, bytes, halves, words };

/// A (rows = M) or B (rows = N) of one instruction, K-major: row r starts at codes + r * row_stride bytes.
struct OperandSource {
  Format format = Format::f16;
  unsigned rows = 0, k = 0;
  const void* codes = nullptr;
  size_t row_stride = 0;
  CodeStorage storage = CodeStorage::halves;
  bool negate = false;  // flips every element's sign (instruction descriptor negate-A/B)

  /// Block scales, one byte each, `scales_per_row` a row, each for k / scales_per_row elements; 0 = unscaled.
  Format scale_format = Format::ue8m0;
  unsigned scales_per_row = 0;
  const uint8_t* scales = nullptr;
  size_t scale_stride = 0;  // bytes
};

/// A decoded operand. Plain data laid out for the kernels: A row after row, B with the N rows side by side.
class MmaOperand {
 public:
  enum class Side : uint8_t { a, b };

  /// Decodes `source` for instructions computing with `params`; reuses this object's memory.
  void assign(Side side, const MmaParams& params, const OperandSource& source);

  Side side() const { return side_; }
  unsigned rows() const { return rows_; }
  unsigned k() const { return k_; }

 private:
  friend class TileRun;
  enum RowFlag : uint8_t { kSpecial = 1, kWide = 2 };

  void assign_aligned(const OperandSource& source, bool legacy_fp8);
  void assign_grouped(const OperandSource& source, unsigned group);
  void set_row_values(Format format, unsigned row, const uint32_t* codes);
  void set_narrow_row(Format format, unsigned row, const uint32_t* codes);
  void set_wide_values(Format format);
  void load_codes(const OperandSource& source);
  size_t at(unsigned row, unsigned i) const { return row * row_step_ + i * element_step_; }

  Side side_ = Side::a;
  Format format_ = Format::f16, scale_format_ = Format::ue8m0;
  unsigned rows_ = 0, k_ = 0, scales_per_row_ = 0;
  size_t row_step_ = 0, element_step_ = 0;  // of the arrays below: A is row-major, B column-major and padded
  bool any_special_ = false, any_wide_ = false;

  std::vector<uint32_t> codes_, scale_codes_;  // row-major, for the elements left to `dot`
  std::vector<uint8_t> row_flags_;
  // group == 1: value = values_ * 2^row_exponents_[row]; exponents_ are raw exponents relative to the row's.
  std::vector<float> values_;
  std::vector<double> wide_values_;  // only if some row spans more than float can hold
  std::vector<int16_t> exponents_;
  std::vector<int32_t> row_exponents_;
  // group == 16: twice the e2m1 values; per group the scale's value and exponent and a mask of non-zero
  // elements.
  std::vector<int16_t> integers_;
  std::vector<double> group_scales_;
  std::vector<int16_t> group_exponents_;
  std::vector<uint16_t> group_masks_;
};

/// Where C comes from and D goes: one code of params.d_format() per 32-bit word, row r at + r * stride words.
/// `c` may be null (C = +0) and may be the same memory as `d`.
struct TileOutput {
  const uint32_t* c = nullptr;
  size_t c_stride = 0;
  uint32_t* d = nullptr;
  size_t d_stride = 0;
  unsigned input_d_shift = 0;  // scale-input-d, as in `dot`
};

/// Computes rows [first_row, first_row + row_count) of the tile; calls for disjoint rows may run
/// concurrently.
void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out,
              unsigned first_row, unsigned row_count);
/// Computes the whole tile.
void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out);

/// The integer kinds: bytes of A and B, K-major, strides in bytes; C and D as in TileOutput, s32.
struct IntegerTile {
  unsigned m = 0, n = 0, k = 0;
  const uint8_t* a = nullptr;
  size_t a_stride = 0;
  bool a_signed = true;
  const uint8_t* b = nullptr;
  size_t b_stride = 0;
  bool b_signed = true;
  bool saturate = false;
};
void mma_tile_i8(const IntegerTile& tile, const TileOutput& out);

}  // namespace drywell::numeric
