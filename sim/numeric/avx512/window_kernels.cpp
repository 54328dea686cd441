#include "sim/numeric/avx512/window_kernels.h"

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC, kToZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kFraction = 23, kBias = 127;

inline __m512i field_of(int exponent_field) { return _mm512_set1_epi32(exponent_field << kFraction); }

/// out[w]: word w of sixteen rows of eight words.
inline void load_words(const uint8_t* rows, size_t stride, __m512i (&out)[8]) {
  const auto row = [&](int i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + static_cast<size_t>(i) * stride)); };
  __m512i x[8], y[8];
  for (int i = 0; i < 8; ++i) {
    const int first = i < 4 ? i : i + 4;
    x[i] = _mm512_inserti64x4(_mm512_castsi256_si512(row(first)), row(first + 4), 1);
  }
  for (int i = 0; i < 8; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  // x[j], x[4 + j]: words j and 4 + j of rows 0..7 and 8..15, four rows of a word in each lane.
  for (int j = 0; j < 4; ++j) {
    out[j] = _mm512_shuffle_i32x4(x[j], x[4 + j], 0x88);
    out[4 + j] = _mm512_shuffle_i32x4(x[j], x[4 + j], 0xDD);
  }
}

/// The values of one element of sixteen rows.
inline __m512i value_bits(WindowFormat f, __m512i word, bool high) {
  if (f == WindowFormat::tf32) return _mm512_and_si512(word, _mm512_set1_epi32(~0x1FFF));
  if (f == WindowFormat::bf16) return high ? _mm512_and_si512(word, _mm512_set1_epi32(~0xFFFF)) : _mm512_slli_epi32(word, 16);
  return _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(high ? _mm512_srli_epi32(word, 16) : word)));
}

/// Decodes a panel, element by element.
class Panel {
 public:
  Panel(const WindowSource& s, WindowSide side, const WindowOperand& out)
      : least_exponent_(_mm512_set1_epi32(s.format == WindowFormat::f16 ? -14 : -126)),
        factor_(_mm512_set1_pd((side == WindowSide::rows ? 1 + 0x1p-40 : 1) * (s.negate ? -1 : 1))),
        columns_(side == WindowSide::columns),
        negative_first_((side == WindowSide::rows) != s.negate),
        out_(out) {}

  void begin() { negatives_ = positives_ = _mm512_setzero_si512(), squares_ = _mm512_setzero_ps(); }

  void add(__m512i bits, unsigned k, size_t at) {
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 some = _mm512_test_epi32_mask(magnitude, magnitude), negative = some & _mm512_movepi32_mask(bits);
    const __m512i unbiased = _mm512_sub_epi32(_mm512_srli_epi32(magnitude, kFraction), _mm512_set1_epi32(kBias));
    const __m512i exponent = _mm512_mask_max_epi32(_mm512_set1_epi32(kWindowZero), some, unbiased, least_exponent_);
    greatest_ = _mm512_max_epi32(greatest_, exponent);
    least_ = _mm512_mask_min_epi32(least_, some, least_, exponent);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out_.exponents + at), _mm512_cvtepi32_epi8(exponent));
    const __m512 significand = _mm512_maskz_getmant_ps(some, _mm512_castsi512_ps(bits), _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    squares_ = _mm512_fmadd_ps(significand, significand, squares_);
    const __m512i bit = _mm512_set1_epi32(1 << k);
    negatives_ = _mm512_mask_or_epi32(negatives_, negative, negatives_, bit);
    positives_ = _mm512_mask_or_epi32(positives_, some & ~negative, positives_, bit);
    store_values(_mm512_castsi512_ps(bits), at);
  }

  void end(unsigned row) {
    const __m512i low = negative_first_ ? negatives_ : positives_, high = negative_first_ ? positives_ : negatives_;
    _mm512_storeu_si512(out_.signs + row, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    square_ = _mm512_max_ps(square_, squares_);
  }

  WindowRange range() const {
    const int greatest = _mm512_reduce_max_epi32(greatest_);
    return {_mm512_reduce_min_epi32(least_), greatest, _mm512_reduce_max_ps(square_), greatest > kBias};
  }

 private:
  // Columns are stored in the order in which _mm512_unpacklo_epi32 and _mm512_unpackhi_epi32 split sixteen words.
  void store_values(__m512 v, size_t at) const {
    if (columns_) v = _mm512_permutexvar_ps(_mm512_set_epi32(15, 14, 11, 10, 7, 6, 3, 2, 13, 12, 9, 8, 5, 4, 1, 0), v);
    _mm512_storeu_pd(out_.values + at, _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(v)), factor_));
    _mm512_storeu_pd(out_.values + at + 8, _mm512_mul_pd(_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)), factor_));
  }

  const __m512i least_exponent_;
  const __m512d factor_;
  const bool columns_, negative_first_;
  const WindowOperand& out_;
  __m512i negatives_, positives_, least_ = _mm512_set1_epi32(1000), greatest_ = _mm512_set1_epi32(kWindowZero);
  __m512 squares_, square_ = _mm512_setzero_ps();
};

inline __m128i spread(const WindowTerms& t, size_t at) {
  const __m128i e = _mm_loadu_si128(reinterpret_cast<const __m128i*>(t.exponents + at));
  const auto byte = [](int v) { return _mm_set1_epi8(static_cast<char>(v)); };
  const __m128i down = _mm_max_epi8(_mm_subs_epi8(e, byte(t.greatest)), byte(-t.span - 1));
  return _mm_mask_mov_epi8(byte(t.base), _mm_cmpneq_epi8_mask(e, byte(kWindowZero)), _mm_add_epi8(down, byte(t.base + t.span + 1)));
}

/// Rows and vectors of doubles that are summed together.
constexpr unsigned kRows = kWindowBlockRows, kVectors = 2;
/// Intermediate values of a block, row by row.
struct Block {
  alignas(64) uint8_t sums[kRows][kWindowBytes];     // largest sums of exponents
  alignas(64) uint32_t tops[kRows][kWindowColumns];  // 2^top of the window as floats
};

/// Computes the largest sums of exponents.
template <unsigned kK>
inline void find_sums(const WindowTile& t, unsigned m, unsigned n, Block& x) {
  const auto byte = [](int v) { return _mm512_set1_epi8(static_cast<char>(v)); };
  __m512i sum[kRows];
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) sum[r] = byte(t.floor);
  const uint32_t* row = t.row_terms + size_t{m / kWindowPanel} * kWindowPanel * kK + m % kWindowPanel;
  const uint8_t* column = t.column_terms + size_t{n} * kK;
  for (unsigned k = 0; k < kK; ++k, row += kWindowPanel, column += kWindowBytes) {
    const __m512i term = _mm512_loadu_si512(column);
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r)
      sum[r] = _mm512_max_epu8(sum[r], _mm512_add_epi8(_mm512_set1_epi32(static_cast<int>(row[r])), term));
  }
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r)
    _mm512_store_si512(x.sums[r], _mm512_mask_mov_epi8(byte(t.in_place_of_none), _mm512_cmpgt_epu8_mask(sum[r], byte(t.none)), sum[r]));
}

template <bool kHalves>
inline __m512i load_c(const WindowTile& t, unsigned m, unsigned n) {
  if (t.c == nullptr) return _mm512_setzero_si512();
  const __m512i c = _mm512_loadu_si512(t.c + m * t.c_stride + n);
  return kHalves ? _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(c))) : c;
}

/// Computes the window's tops of a block, including C; false if the block must be left to other kernels.
template <bool kHalves>
inline bool find_tops(const WindowTile& t, unsigned m, unsigned n, unsigned byte, Block& x) {
  __m512i highest = _mm512_setzero_si512();
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned i = 0; i < kWindowColumns; i += 16) {
      const __m512i c = load_c<kHalves>(t, m + r, n + i);
      __m512i field = _mm512_and_si512(c, field_of(0xFF));
      if (kHalves) {  // subnormals have the least exponent
        const __mmask16 some = _mm512_test_epi32_mask(field, field);
        field = _mm512_mask_max_epi32(field, some, field, field_of(kBias - 14));
      }
      const __m128i sums = _mm_load_si128(reinterpret_cast<const __m128i*>(x.sums[r] + byte + i));
      const __m512i top = _mm512_max_epi32(field, _mm512_slli_epi32(_mm512_cvtepu8_epi32(sums), kFraction));
      highest = _mm512_max_epi32(highest, top);
      _mm512_store_si512(x.tops[r] + i, top);
    }
  }
  return _mm512_cmpge_epi32_mask(highest, field_of(2 * kBias)) == 0;
}

/// s quanta as f16, rounded to nearest even, from a truncated float whose last bit is set if it is inexact.
inline __m512i rounded_halves(__m512i s, __m512 down, __m512 top) {
  const __m512 cut = _mm512_cvt_roundepi32_ps(s, kToZero);
  const __mmask16 inexact = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(cut), s);
  const __m512i odd = _mm512_mask_or_epi32(_mm512_castps_si512(cut), inexact, _mm512_castps_si512(cut), _mm512_set1_epi32(1));
  const __m512 value = _mm512_mul_ps(_mm512_mul_ps(_mm512_castsi512_ps(odd), down), top);
  const __m512i half = _mm512_cvtepu16_epi32(_mm512_cvt_roundps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(half, _mm512_set1_epi32(0x7FFF)), half);  // never -0
}

/// Computes D of a block of sixteen columns.
template <bool kHalves, unsigned kK>
inline void sum_block(const WindowTile& t, unsigned m, unsigned n, const uint32_t (&tops)[kRows][kWindowColumns]) {
  __m512d sum[kRows][kVectors];
  const __m512i signs = _mm512_loadu_si512(t.column_signs + n);
  // The upper words of 1.5 * 2^(52 + top - window): the exponent fields of float and double differ in bias and position.
  constexpr int kDoubleFraction = 20, kDoubleBias = 1023;
  const __m512i magic = _mm512_set1_epi32(((kDoubleBias - kBias + 52 - t.window) << kDoubleFraction) + (1 << (kDoubleFraction - 1)));
  const unsigned column = n % kWindowColumns;
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) {
    const __m512i top = _mm512_load_si512(tops[r] + column);
    const __m512i high = _mm512_add_epi32(_mm512_srli_epi32(top, kFraction - kDoubleFraction), magic);
    const __m512i count = _mm512_popcnt_epi32(_mm512_and_si512(signs, _mm512_set1_epi32(static_cast<int>(t.row_signs[m + r]))));
    sum[r][0] = _mm512_castsi512_pd(_mm512_unpacklo_epi32(count, high));
    sum[r][1] = _mm512_castsi512_pd(_mm512_unpackhi_epi32(count, high));
  }
  const double* a = t.rows + size_t{m / kWindowPanel} * kWindowPanel * kK + m % kWindowPanel;
  const double* b = t.columns + size_t{n} * kK;
  for (unsigned k = 0; k < kK; ++k, a += kWindowPanel, b += kWindowPanel) {
    const __m512d b0 = _mm512_loadu_pd(b), b1 = _mm512_loadu_pd(b + 8);
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r) {
      const __m512d v = _mm512_set1_pd(a[r]);
      sum[r][0] = _mm512_fmadd_round_pd(v, b0, sum[r][0], kDown);
      sum[r][1] = _mm512_fmadd_round_pd(v, b1, sum[r][1], kDown);
    }
  }
  const __m512 up = _mm512_castsi512_ps(field_of(kBias + t.window)), down = _mm512_castsi512_ps(field_of(kBias - t.window));
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) {
    // The lower words are the sums in quanta.
    const __m512 low = _mm512_shuffle_ps(_mm512_castpd_ps(sum[r][0]), _mm512_castpd_ps(sum[r][1]), 0x88);
    const __m512i top = _mm512_load_si512(tops[r] + column);
    const __m512 c = _mm512_castsi512_ps(load_c<kHalves>(t, m + r, n));
    const __m512 one_over_top = _mm512_castsi512_ps(_mm512_sub_epi32(field_of(2 * kBias), top));
    const __m512i cut_c = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(c, one_over_top), up));
    const __m512i s = _mm512_add_epi32(_mm512_castps_si512(low), cut_c);
    uint32_t* const to = t.d + (m + r) * t.d_stride + n;
    __m512i d;
    if (kHalves) {
      d = rounded_halves(s, down, _mm512_castsi512_ps(top));
      if (t.keep_upper) d = _mm512_or_si512(d, _mm512_and_si512(_mm512_loadu_si512(to), _mm512_set1_epi32(~0xFFFF)));
    } else {
      const __m512 cut = _mm512_cvt_roundepi32_ps(s, kToZero);
      d = _mm512_castps_si512(_mm512_mul_ps(_mm512_mul_ps(cut, down), _mm512_castsi512_ps(top)));
    }
    _mm512_storeu_si512(to, d);
  }
}

template <bool kHalves, unsigned kK>
void sums(const WindowTile& t) {
  Block x;
  for (unsigned group = 0; group < t.column_count; group += kWindowBytes) {
    for (unsigned m = 0; m < t.row_count; m += kRows) {
      find_sums<kK>(t, m, group, x);
      for (unsigned byte = 0; byte < kWindowBytes && group + byte < t.column_count; byte += kWindowColumns) {
        const unsigned n = group + byte;
        if (find_tops<kHalves>(t, m, n, byte, x)) {
          for (unsigned i = 0; i < kWindowColumns; i += kWindowPanel) sum_block<kHalves, kK>(t, m, n + i, x.tops);
        } else {
          for (unsigned r = 0; r < kRows; ++r) t.left[m + r] |= 1u << n / kWindowColumns;
        }
      }
    }
  }
}

}  // namespace

WindowRange decode_window(const WindowSource& s, WindowSide side, const WindowOperand& out) {
  Panel panel(s, side, out);
  const unsigned per_word = s.format == WindowFormat::tf32 ? 1 : 2, elements = 8 * per_word;
  for (unsigned row = 0; row < s.rows; row += kWindowPanel) {
    __m512i words[8];
    load_words(s.codes + row * s.row_stride, s.row_stride, words);
    panel.begin();
    for (unsigned k = 0; k < elements; ++k) {
      const __m512i bits = value_bits(s.format, words[k / per_word], k % per_word != 0);
      panel.add(bits, k, size_t{row} * elements + size_t{k} * kWindowPanel);
    }
    panel.end(row);
  }
  return panel.range();
}

void spread_row_terms(const WindowTerms& t, uint32_t* out) {
  const __m512i four_times = _mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0);
  for (size_t i = 0; i < size_t{t.rows} * t.k; i += 16)
    _mm512_storeu_si512(out + i, _mm512_shuffle_epi8(_mm512_cvtepu8_epi32(spread(t, i)), four_times));
}

void spread_column_terms(const WindowTerms& t, uint8_t* out) {
  for (unsigned row = 0; row < t.rows; row += kWindowPanel) {
    uint8_t* const to = out + size_t{row / kWindowBytes} * kWindowBytes * t.k + row % kWindowBytes;
    for (unsigned k = 0; k < t.k; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + size_t{k} * kWindowBytes), spread(t, size_t{row} * t.k + size_t{k} * kWindowPanel));
  }
}

void window_sums(const WindowTile& t) {
  if (t.k == 8) return sums<false, 8>(t);
  t.halves ? sums<true, 16>(t) : sums<false, 16>(t);
}

}  // namespace drywell::numeric
#endif
