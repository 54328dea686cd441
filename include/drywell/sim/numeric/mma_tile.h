// One matrix instruction as a tile: D[M x N] = C + A[M x K] * B[N x K]^T. Fast, and bit-identical to `dot` of mma.h for
// every element. Operands are decoded once (MmaOperand); any number of tiles with the same parameters may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drywell/sim/numeric/mma.h"

namespace drywell::numeric {

/// Layout of the codes of one row in memory, little-endian; nibbles: element 0 is in bits 3..0 of the first byte.
enum class CodeStorage : uint8_t {
  nibbles,
  bytes,
  halves,
  words
};

/// A (rows = M) or B (rows = N) of one instruction, K-major: row r starts at codes + r * row_stride bytes.
struct OperandSource {
  Format format = Format::f16;                // of the codes
  unsigned rows = 0, k = 0;                   // extents; k of the whole instruction
  const void* codes = nullptr;                // the first row
  size_t row_stride = 0;                      // bytes from row to row
  CodeStorage storage = CodeStorage::halves;  // width of a code in memory
  bool negate = false;                        // flips every element's sign (instruction descriptor negate-A/B)

  /// Block scales of one byte: `scales_per_row` per row, each for k / scales_per_row elements; 0 = unscaled.
  Format scale_format = Format::ue8m0;  // of the block scales
  unsigned scales_per_row = 0;          // 0: not block-scaled
  const uint8_t* scales = nullptr;      // the first row's
  size_t scale_stride = 0;              // bytes
};

/// A decoded operand, a value: any threads may read one at the same time. Every array is [k][row], with the rows padded to the kernels' block.
class MmaOperand {
 public:
  /// The kernels process rows of `a` one at a time and rows of `b` as vectors.
  enum class Side : uint8_t {
    a,
    b
  };

  /// Decodes `source` for instructions with `params`; reuses this object's memory.
  void assign(Side side, const MmaParams& params, const OperandSource& source);

  /// The side it was decoded for.
  Side side() const { return side_; }
  /// Rows of the source, without padding.
  unsigned rows() const { return rows_; }
  /// Elements of a row.
  unsigned k() const { return k_; }

 private:
  friend class TileRun;
  enum RowFlag : uint8_t {
    kSpecial = 1,
    kWide = 2
  };

  void assign_aligned(const OperandSource& source);
  void assign_legacy_fp8();
  void assign_grouped(unsigned group);
  void decode_values(Format format, const uint32_t* words, unsigned word_count, unsigned element_bits);
  void finish_rows(Format format);
  void set_wide_values(Format format);
  void load_words(const OperandSource& source);
  void pack_nibbles();
  void load_scales(const OperandSource& source);
  uint32_t code(unsigned row, unsigned k) const;
  uint32_t scale_code(unsigned row, unsigned i) const { return scale_words_[i / 4 * stride_ + row] >> (8 * (i % 4)) & 0xFF; }

  Side side_ = Side::a;
  Format format_ = Format::f16, scale_format_ = Format::ue8m0;
  unsigned rows_ = 0, k_ = 0, scales_per_row_ = 0, element_bits_ = 16;
  size_t stride_ = 0;  // rows, padded
  bool any_special_ = false, any_wide_ = false;

  std::vector<uint32_t> words_;        // the source's codes, 32 bits of a row in one word: [word][row]
  std::vector<uint32_t> scale_words_;  // scale codes, four of a row in one word: [word][row]
  std::vector<uint8_t> row_flags_;

  // group == 1: value = values_ * 2^row_exponents_[row]; exponents_ are raw exponents relative to the row's.
  std::vector<float> values_;
  std::vector<int8_t> exponents_;
  std::vector<int32_t> row_exponents_;
  // Largest raw exponent and lowest set bit of a row's elements, including the scale's exponent.
  std::vector<int32_t> row_tops_, row_lowest_;
  // The same for all rows, if a row's exponents span more than exponents_ can hold (wide rows).
  std::vector<double> wide_values_;
  std::vector<int16_t> wide_exponents_;

  // group == 16: twice the e2m1 values in bytes, four in a word; per group the scale's value and exponent.
  std::vector<uint32_t> bytes_;            // side b: biased by kE2m1Bias
  std::vector<int32_t> group_bias_;        // side a: kMagicBits less the part of a group's dot product that the bias of b adds
  std::vector<float> group_scales_;        // side a: a quarter of the value, because both operands are doubled
  std::vector<float> group_magic_scales_;  // side b: see exact_kernels.h
  std::vector<int32_t> group_exponents_;
};

/// Memory of C and D: one code of params.d_format() per 32-bit word; row r starts at r * stride words. f16: the upper halves
/// of C's words are ignored. `c` may be null (C = +0) and may be the same memory as `d`.
struct TileOutput {
  const uint32_t* c = nullptr;     // row 0 of C
  size_t c_stride = 0;             // words from row to row of C
  uint32_t* d = nullptr;           // row 0 of D
  size_t d_stride = 0;             // words from row to row of D
  unsigned input_d_shift = 0;      // scale-input-d, as in `dot`
  bool keep_upper_halves = false;  // f16 D: the upper halves of its words are unchanged
};

/// Computes rows [first_row, first_row + row_count) of the tile; calls for disjoint rows may run
/// concurrently.
void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out,
              unsigned first_row, unsigned row_count);
/// Computes the whole tile.
void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out);
/// The same for operands that are used once: rows of `a` as Side::a, of `b` as Side::b. On processors with a tile unit (AMX)
/// or AVX-512, special kernels compute most of the tile from the codes, without MmaOperand.
void mma_tile(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out);

/// The integer kinds: bytes of A and B, K-major, strides in bytes; C and D as in TileOutput, as s32.
struct IntegerTile {
  unsigned m = 0, n = 0, k = 0;  // extents of the tile
  const uint8_t* a = nullptr;    // row 0 of A
  size_t a_stride = 0;           // bytes from row to row of A
  bool a_signed = true;          // s8, else u8
  const uint8_t* b = nullptr;    // row 0 of B
  size_t b_stride = 0;           // bytes from row to row of B
  bool b_signed = true;          // s8, else u8
  bool saturate = false;         // clamps to s32; else wraps
};
/// Computes the whole tile; bit-identical to dot_i8 for every element.
void mma_tile_i8(const IntegerTile& tile, const TileOutput& out);

}  // namespace drywell::numeric
