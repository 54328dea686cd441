// Sums whose products are each cut to the alignment window (facts/numerics.md §3.1), for 16- and 32-bit elements: one fused
// multiply-add of doubles a product. A sum starts as 1.5 * 2^52 quanta, so that an addition rounded down is an addition of
// floor(product / quantum). Truncation toward zero is that, plus one for each negative product: one factor is taken
// 1 + 2^-40 times as large, which changes no other floor but makes that of a negative whole number one less, too. Negative
// products are counted from the signs.
//
// Plain pointers only: window_kernels.cpp is compiled for processors that have AVX-512 and entered only there, and nothing
// inline of a shared header may be compiled there. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::numeric {

inline constexpr unsigned kWindowRows = 256, kWindowK = 16;
/// Rows of an operand that lie together, and rows of D that are computed together.
inline constexpr unsigned kWindowPanel = 16, kWindowBlockRows = 8;
/// Columns that share a set of vectors of bytes, and those that are left alone together.
inline constexpr unsigned kWindowBytes = 64, kWindowColumns = 32;

enum class WindowFormat : uint8_t { f16, bf16, tf32 };
/// Rows of D are taken one at a time, columns a vector at a time.
enum class WindowSide : uint8_t { rows, columns };

/// Elements of `k` consecutive halves (words for tf32) a row.
struct WindowSource {
  const uint8_t* codes;
  size_t row_stride;  // bytes
  unsigned rows, k;   // rows: a multiple of kWindowPanel
  WindowFormat format;
  bool negate;
};
/// An operand, [panel][k][row of the panel].
struct WindowOperand {
  double* values;
  int8_t* exponents;  // raw; kWindowZero for zeros
  uint32_t* signs;    // [row]: which k are negative and which positive; rows: 0..15 and 16..31, columns: the other way round
};
inline constexpr int kWindowZero = -128;
/// Over all elements.
struct WindowRange {
  int least, greatest;  // raw exponents, zeros apart; least > greatest: there are none
  float square;         // of a row's significands, the largest sum of squares
  bool special;         // infinities or NaNs: nothing else holds
};
WindowRange decode_window(const WindowSource& source, WindowSide side, const WindowOperand& operand);

/// Exponents as they are added, those of float's encoding: sum = lift - depth, cut off below zero. Zeros and what lies below
/// have no lift and all depth.
void lift_exponents(const int8_t* exponents, unsigned rows, unsigned k, int top, uint32_t* lifts);
void sink_exponents(const int8_t* exponents, unsigned rows, unsigned k, int top, uint8_t* depths);

struct WindowTile {
  const double* rows;     // as decode_window leaves them
  const double* columns;
  const uint32_t* lifts;  // [panel][k][row], a byte four times
  const uint8_t* depths;  // [kWindowBytes columns][k][column]
  const uint32_t* row_signs;
  const uint32_t* column_signs;
  unsigned row_count, column_count, k;  // multiples of kWindowPanel and kWindowColumns
  int window;
  // Exponents of float's encoding. An element whose window's top is below `least`, or the largest that a finite float has, is left
  // alone; no window's top is below `floor`.
  int floor, least;
  bool halves;        // C and D are f16
  const uint32_t* c;  // may be null (0) and may be d; strides in words
  uint32_t* d;
  size_t c_stride, d_stride;
  uint32_t* left;  // [row]: a bit for each kWindowColumns columns that were left alone
};
/// The sum of products, in quanta, must be known to fit 31 bits.
void window_sums(const WindowTile& tile);

}  // namespace drywell::numeric
