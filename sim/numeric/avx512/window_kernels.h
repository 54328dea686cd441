// Sums of products that are each truncated to the alignment window (docs/facts/numerics.md §3.1), for 16- and 32-bit elements,
// with one fused multiply-add of doubles per product. A sum starts at 1.5 * 2^52 quanta, so that an addition that rounds down
// adds floor(product / quantum). Truncation toward zero is this floor, plus one for each negative product: one factor is
// multiplied by 1 + 2^-40, which makes the floor of a negative whole number one less and changes no other floor. Negative
// products are counted from the signs.
//
// Plain pointers only: window_kernels.cpp is compiled for processors with AVX-512 and called only on them, and it must not
// compile inline functions of shared headers. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::numeric {

inline constexpr unsigned kWindowRows = 256, kWindowK = 16;
/// Rows of an operand in one panel, and rows of D that are computed together.
inline constexpr unsigned kWindowPanel = 16, kWindowBlockRows = 8;
/// Columns that share a set of vectors of bytes, and columns that are left to other kernels together.
inline constexpr unsigned kWindowBytes = 64, kWindowColumns = 32;

enum class WindowFormat : uint8_t {
  f16,
  bf16,
  tf32
};
/// The kernels process rows of D one at a time and columns as vectors.
enum class WindowSide : uint8_t {
  rows,
  columns
};

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
  uint32_t* signs;    // [row]: rows: bit k for negative k, bit 16 + k for positive k; columns: exchanged
};
inline constexpr int kWindowZero = -128;
/// Bounds over all elements.
struct WindowRange {
  int least, greatest;  // raw exponents of non-zero elements; least > greatest: all elements are zero
  float square;         // the largest sum of squares of a row's significands
  bool special;         // infinities or NaNs: the other fields are not valid
};
WindowRange decode_window(const WindowSource& source, WindowSide side, const WindowOperand& operand);

/// Exponents in bytes, as they are added: the largest becomes `base` + `span` + 1; zeros and exponents more than `span` below
/// the largest become `base`. Rows: [panel][k][row], each byte four times; columns: [kWindowBytes columns][k][column].
struct WindowTerms {
  const int8_t* exponents;
  unsigned rows, k;
  int greatest, span, base;
};
void spread_row_terms(const WindowTerms& terms, uint32_t* out);
void spread_column_terms(const WindowTerms& terms, uint8_t* out);

struct WindowTile {
  const double* rows;  // values of decode_window
  const double* columns;
  const uint32_t* row_terms;  // sums with column_terms are exponents of float's encoding
  const uint8_t* column_terms;
  const uint32_t* row_signs;
  const uint32_t* column_signs;
  unsigned row_count, column_count, k;  // multiples of kWindowPanel and kWindowColumns; 8 or 16
  int window;
  // Exponents of float's encoding. A window's top is at least `floor`. Sums of terms up to `none` are replaced by
  // `in_place_of_none`. If a window's top is the largest exponent of a finite float or higher, the element's block is left to
  // other kernels.
  int none, in_place_of_none, floor;
  bool halves;        // C and D are f16; k is 16
  bool keep_upper;    // halves: the upper halves of D's words are unchanged
  const uint32_t* c;  // may be null (0) and may be d; strides in words
  uint32_t* d;
  size_t c_stride, d_stride;
  uint32_t* left;  // [row]: a bit for each kWindowColumns columns that are not written
};
/// The caller must ensure that the sum of products, in quanta, fits 31 bits.
void window_sums(const WindowTile& tile);

}  // namespace drywell::numeric
