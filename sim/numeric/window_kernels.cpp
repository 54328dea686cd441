#include "sim/numeric/window_kernels.h"

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC, kToZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int kFraction = 23, kBias = 127;

inline __m512i field_of(int exponent_field) { return _mm512_set1_epi32(exponent_field << kFraction); }

/// Elements k and, of halves, k + 1 of sixteen rows.
inline __m512i gather(const WindowSource& s, unsigned row, unsigned k) {
  const unsigned bytes = s.format == WindowFormat::tf32 ? 4 : 2;
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i at = _mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int>(s.row_stride)));
  return _mm512_i32gather_epi32(at, s.codes + row * s.row_stride + size_t{k} * bytes, 1);
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
  Panel(WindowFormat format, WindowSide side, const WindowOperand& out)
      : least_exponent_(_mm512_set1_epi32(format == WindowFormat::f16 ? -14 : -126)), side_(side), out_(out) {}

  void begin() { ones_ = others_ = _mm512_setzero_si512(), squares_ = _mm512_setzero_ps(); }

  void add(__m512i bits, unsigned k, size_t at) {
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF)), field = _mm512_srli_epi32(magnitude, kFraction);
    special_ = _mm512_max_epi32(special_, field);
    const __mmask16 some = _mm512_test_epi32_mask(magnitude, magnitude), negative = some & _mm512_movepi32_mask(bits);
    const __m512i raw = _mm512_max_epi32(_mm512_sub_epi32(field, _mm512_set1_epi32(kBias)), least_exponent_);
    const __m512i exponent = _mm512_mask_mov_epi32(_mm512_set1_epi32(kWindowZero), some, raw);
    greatest_ = _mm512_max_epi32(greatest_, exponent);
    least_ = _mm512_mask_min_epi32(least_, some, least_, raw);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out_.exponents + at), _mm512_cvtepi32_epi8(exponent));
    const __m512 significand = _mm512_maskz_getmant_ps(some, _mm512_castsi512_ps(bits), _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    squares_ = _mm512_fmadd_ps(significand, significand, squares_);
    const __m512i bit = _mm512_set1_epi32(1 << k);
    const __mmask16 one = side_ == WindowSide::rows ? negative : some & ~negative;
    ones_ = _mm512_mask_or_epi32(ones_, one, ones_, bit);
    others_ = _mm512_mask_or_epi32(others_, some & ~one, others_, bit);
    store_values(_mm512_castsi512_ps(bits), at);
  }

  void end(unsigned row) {
    _mm512_storeu_si512(out_.signs + row, _mm512_or_si512(ones_, _mm512_slli_epi32(others_, 16)));
    square_ = _mm512_max_ps(square_, squares_);
  }

  WindowRange range() const {
    return {_mm512_reduce_min_epi32(least_), _mm512_reduce_max_epi32(greatest_), _mm512_reduce_max_ps(square_),
            _mm512_reduce_max_epi32(special_) == 0xFF};
  }

 private:
  // Columns lie as _mm512_unpacklo_epi32 and _mm512_unpackhi_epi32 take sixteen words apart.
  void store_values(__m512 v, size_t at) const {
    const bool rows = side_ == WindowSide::rows;
    if (!rows) v = _mm512_permutexvar_ps(_mm512_set_epi32(15, 14, 11, 10, 7, 6, 3, 2, 13, 12, 9, 8, 5, 4, 1, 0), v);
    const __m512d factor = _mm512_set1_pd(rows ? 1 + 0x1p-40 : 1);
    _mm512_storeu_pd(out_.values + at, _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(v)), factor));
    _mm512_storeu_pd(out_.values + at + 8, _mm512_mul_pd(_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)), factor));
  }

  const __m512i least_exponent_;
  const WindowSide side_;
  const WindowOperand& out_;
  __m512i ones_, others_, special_ = _mm512_setzero_si512();
  __m512i least_ = _mm512_set1_epi32(1000), greatest_ = _mm512_set1_epi32(kWindowZero);
  __m512 squares_, square_ = _mm512_setzero_ps();
};

inline __m512i load_exponents(const int8_t* from) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))); }

/// Rows and vectors of doubles that are summed together.
constexpr unsigned kRows = kWindowBlockRows, kVectors = 2;
/// What the elements of a block need, row by row.
struct Block {
  alignas(64) uint8_t sums[kRows][kWindowBytes];      // largest sums of exponents
  alignas(64) uint32_t tops[kRows][kWindowColumns];   // 2^top of the window as floats
};

/// The largest exponents of products.
inline void find_sums(const WindowTile& t, unsigned m, unsigned n, Block& x) {
  __m512i sum[kRows];
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) sum[r] = _mm512_set1_epi8(static_cast<char>(t.floor));
  const uint32_t* lift = t.lifts + size_t{m / kWindowPanel} * kWindowPanel * t.k + m % kWindowPanel;
  const uint8_t* depth = t.depths + size_t{n} * t.k;
  for (unsigned k = 0; k < t.k; ++k, lift += kWindowPanel, depth += kWindowBytes) {
    const __m512i d = _mm512_loadu_si512(depth);
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r)
      sum[r] = _mm512_max_epu8(sum[r], _mm512_subs_epu8(_mm512_set1_epi32(static_cast<int>(lift[r])), d));
  }
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) _mm512_store_si512(x.sums[r], sum[r]);
}

template <bool kHalves>
inline __m512i load_c(const WindowTile& t, unsigned m, unsigned n) {
  if (t.c == nullptr) return _mm512_setzero_si512();
  const __m512i c = _mm512_loadu_si512(t.c + m * t.c_stride + n);
  return kHalves ? _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(c))) : c;
}

/// The window's tops of a block, C included; a bit for each row that must be left alone.
template <bool kHalves>
inline unsigned find_tops(const WindowTile& t, unsigned m, unsigned n, unsigned byte, Block& x) {
  const __m512i least = field_of(t.least), usable = field_of(2 * kBias - t.least);
  unsigned left = 0;
  for (unsigned r = 0; r < kRows; ++r) {
    __mmask16 bad = 0;
    for (unsigned i = 0; i < kWindowColumns; i += 16) {
      const __m512i c = load_c<kHalves>(t, m + r, n + i);
      __m512i field = _mm512_and_si512(c, field_of(0xFF));
      if (kHalves) {  // subnormals have the least exponent
        const __mmask16 some = _mm512_test_epi32_mask(field, field);
        field = _mm512_mask_max_epi32(field, some, field, field_of(kBias - 14));
      }
      const __m128i sums = _mm_load_si128(reinterpret_cast<const __m128i*>(x.sums[r] + byte + i));
      const __m512i top = _mm512_max_epi32(field, _mm512_slli_epi32(_mm512_cvtepu8_epi32(sums), kFraction));
      bad |= _mm512_cmpge_epu32_mask(_mm512_sub_epi32(top, least), usable);
      _mm512_store_si512(x.tops[r] + i, top);
    }
    left |= (bad != 0 ? 1u : 0u) << r;
  }
  return left;
}

/// S quanta as f16, to the nearest even: first a float that has its last bit set where it is not exact.
inline __m512i rounded_halves(__m512i s, __m512 down, __m512 top) {
  const __m512 cut = _mm512_cvt_roundepi32_ps(s, kToZero);
  const __mmask16 inexact = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(cut), s);
  const __m512i odd = _mm512_mask_or_epi32(_mm512_castps_si512(cut), inexact, _mm512_castps_si512(cut), _mm512_set1_epi32(1));
  const __m512 value = _mm512_mul_ps(_mm512_mul_ps(_mm512_castsi512_ps(odd), down), top);
  const __m512i half = _mm512_cvtepu16_epi32(_mm512_cvt_roundps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(half, _mm512_set1_epi32(0x7FFF)), half);  // never -0
}

/// D of a block of sixteen columns.
template <bool kHalves>
inline void sum_block(const WindowTile& t, unsigned m, unsigned n, unsigned left, const uint32_t (&tops)[kRows][kWindowColumns]) {
  __m512d sum[kRows][kVectors];
  const __m512i signs = _mm512_loadu_si512(t.column_signs + n);
  // The upper words of 1.5 * 2^(52 + top - window): the fields of float and double differ in bias and place.
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
  const double* a = t.rows + size_t{m / kWindowPanel} * kWindowPanel * t.k + m % kWindowPanel;
  const double* b = t.columns + size_t{n} * t.k;
  for (unsigned k = 0; k < t.k; ++k, a += kWindowPanel, b += kWindowPanel) {
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
    if ((left >> r & 1) != 0) continue;
    // The lower words are the sums in quanta.
    const __m512 low = _mm512_shuffle_ps(_mm512_castpd_ps(sum[r][0]), _mm512_castpd_ps(sum[r][1]), 0x88);
    const __m512i top = _mm512_load_si512(tops[r] + column);
    const __m512 c = _mm512_castsi512_ps(load_c<kHalves>(t, m + r, n));
    const __m512 one_over_top = _mm512_castsi512_ps(_mm512_sub_epi32(field_of(2 * kBias), top));
    const __m512i cut_c = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(c, one_over_top), up));
    const __m512i s = _mm512_add_epi32(_mm512_castps_si512(low), cut_c);
    __m512i d;
    if (kHalves) {
      d = rounded_halves(s, down, _mm512_castsi512_ps(top));
    } else {
      const __m512 cut = _mm512_cvt_roundepi32_ps(s, kToZero);
      d = _mm512_castps_si512(_mm512_mul_ps(_mm512_mul_ps(cut, down), _mm512_castsi512_ps(top)));
    }
    _mm512_storeu_si512(t.d + (m + r) * t.d_stride + n, d);
  }
}

template <bool kHalves>
void sums(const WindowTile& t) {
  Block x;
  for (unsigned group = 0; group < t.column_count; group += kWindowBytes) {
    for (unsigned m = 0; m < t.row_count; m += kRows) {
      find_sums(t, m, group, x);
      for (unsigned byte = 0; byte < kWindowBytes && group + byte < t.column_count; byte += kWindowColumns) {
        const unsigned n = group + byte, left = find_tops<kHalves>(t, m, n, byte, x);
        for (unsigned i = 0; i < kWindowColumns; i += kWindowPanel) sum_block<kHalves>(t, m, n + i, left, x.tops);
        for (unsigned r = 0; left != 0 && r < kRows; ++r) t.left[m + r] |= (left >> r & 1) << n / kWindowColumns;
      }
    }
  }
}

}  // namespace

WindowRange decode_window(const WindowSource& s, WindowSide side, const WindowOperand& out) {
  Panel panel(s.format, side, out);
  const unsigned per_word = s.format == WindowFormat::tf32 ? 1 : 2;
  const __m512i flip = _mm512_set1_epi32(s.negate ? INT32_MIN : 0);
  for (unsigned row = 0; row < s.rows; row += kWindowPanel) {
    panel.begin();
    for (unsigned k = 0; k < s.k; k += per_word) {
      const __m512i word = gather(s, row, k);
      for (unsigned i = 0; i < per_word; ++i) {
        const __m512i bits = _mm512_xor_si512(value_bits(s.format, word, i != 0), flip);
        panel.add(bits, k + i, size_t{row} * s.k + size_t{k + i} * kWindowPanel);
      }
    }
    panel.end(row);
  }
  return panel.range();
}

void lift_exponents(const int8_t* exponents, unsigned rows, unsigned k, int top, uint32_t* lifts) {
  const __m512i lift = _mm512_set1_epi32(kBias + top), limits = _mm512_set1_epi32(0xFF), none = _mm512_set1_epi32(kWindowZero);
  for (size_t i = 0; i < size_t{rows} * k; i += 16) {
    const __m512i e = load_exponents(exponents + i);
    const __m512i clamped = _mm512_max_epi32(_mm512_min_epi32(_mm512_add_epi32(e, lift), limits), _mm512_setzero_si512());
    const __m512i byte = _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(e, none), clamped);
    _mm512_storeu_si512(lifts + i, _mm512_mullo_epi32(byte, _mm512_set1_epi32(0x01010101)));
  }
}

void sink_exponents(const int8_t* exponents, unsigned rows, unsigned k, int top, uint8_t* depths) {
  const __m512i from = _mm512_set1_epi32(top), all = _mm512_set1_epi32(0xFF);
  for (unsigned row = 0; row < rows; row += kWindowPanel) {
    for (unsigned i = 0; i < k; ++i) {
      // The sum of a zero must be cut off: its exponent is less than any other.
      const __m512i e = load_exponents(exponents + size_t{row} * k + size_t{i} * kWindowPanel);
      const __m512i depth = _mm512_min_epi32(_mm512_sub_epi32(from, e), all);
      const __m512i byte = _mm512_mask_mov_epi32(depth, _mm512_cmpeq_epi32_mask(e, _mm512_set1_epi32(kWindowZero)), all);
      uint8_t* out = depths + size_t{row / kWindowBytes} * kWindowBytes * k + size_t{i} * kWindowBytes + row % kWindowBytes;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(byte));
    }
  }
}

void window_sums(const WindowTile& tile) { tile.halves ? sums<true>(tile) : sums<false>(tile); }

}  // namespace drywell::numeric
#endif
