// Sums whose products are each cut to the alignment window (docs/facts/numerics.md §3.1), for 16- and 32-bit elements: one fused
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

/// Rows of 32 bytes: 16 halves, or 8 words of tf32.
struct WindowSource {
  const uint8_t* codes;
  size_t row_stride;  // bytes
  unsigned rows;      // a multiple of kWindowPanel
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

/// Exponents as they are added, in bytes: the largest becomes `base` + `span` + 1, and zeros and what lies more than `span` below it
/// `base`. Rows: [panel][k][row], a byte four times; columns: [kWindowBytes columns][k][column].
struct WindowTerms {
  const int8_t* exponents;
  unsigned rows, k;
  int greatest, span, base;
};
void spread_row_terms(const WindowTerms& terms, uint32_t* out);
void spread_column_terms(const WindowTerms& terms, uint8_t* out);

struct WindowTile {
  const double* rows;     // as decode_window leaves them
  const double* columns;
  const uint32_t* row_terms;  // sums with column_terms are exponents of float's encoding
  const uint8_t* column_terms;
  const uint32_t* row_signs;
  const uint32_t* column_signs;
  unsigned row_count, column_count, k;  // multiples of kWindowPanel and kWindowColumns; 8 or 16
  int window;
  // Exponents of float's encoding. No window's top is below `floor`. For sums of terms up to `none` another takes their place. Where
  // a window's top is the largest that a finite float has, or higher, the element's block is left alone.
  int none, in_place_of_none, floor;
  bool halves;      // C and D are f16; k is 16
  bool keep_upper;  // and D leaves the upper halves of its words as they are
  const uint32_t* c;  // may be null (0) and may be d; strides in words
  uint32_t* d;
  size_t c_stride, d_stride;
  uint32_t* left;  // [row]: a bit for each kWindowColumns columns that were left alone
};
/// The sum of products, in quanta, must be known to fit 31 bits.
void window_sums(const WindowTile& tile);

}  // namespace drywell::numeric
