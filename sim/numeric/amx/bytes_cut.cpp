// Elements of D computed product by product, each truncated to a multiple of the quantum (docs/facts/numerics.md §3, step 3).
#include "sim/numeric/amx/bytes.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
/// If the quantum's exponent is so far from the products' exponents, only the sign of the distance matters.
constexpr int kFar = 100;
/// Up to this many of sixteen elements are computed one by one, more of them together.
constexpr int kFewLanes = 6;

inline __m512i splat(int v) { return _mm512_set1_epi32(v); }
inline __m256i upper(__m512i v) { return _mm512_extracti64x4_epi64(v, 1); }
inline __m256i lower(__m512i v) { return _mm512_castsi512_si256(v); }
inline __m512 power_of_two(__m512i e) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(e, splat(127)), 23)); }
inline float power(int e) { return __builtin_bit_cast(float, static_cast<uint32_t>(e + 127) << 23); }
inline double double_power(int e) { return __builtin_bit_cast(double, static_cast<uint64_t>(e + 1023) << 52); }
inline int larger(int a, int b) { return a < b ? b : a; }
inline int smaller(int a, int b) { return a < b ? a : b; }

/// Elements 0, 2, … and 1, 3, … of pairs of bf16.
inline __m512 even(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
inline __m512 odd(__m512i pairs) { return _mm512_castsi512_ps(_mm512_and_si512(pairs, splat(static_cast<int>(0xFFFF0000)))); }

inline __m512i row_pair(const uint8_t* row, unsigned w) {
  int pair;
  __builtin_memcpy(&pair, row + 4 * w, 4);
  return splat(pair);
}

/// Raw exponents of the products that are not zero; an element's raw exponent is at least its operand's `floor`.
inline __m512 product_exponents(__m512 a, __m512 b, __m512 product, const ByteProduct& x) {
  const __m512 ea = _mm512_max_ps(_mm512_getexp_ps(a), _mm512_set1_ps(static_cast<float>(x.rows.floor)));
  const __m512 eb = _mm512_max_ps(_mm512_getexp_ps(b), _mm512_set1_ps(static_cast<float>(x.lanes.floor)));
  const __mmask16 any = _mm512_cmp_ps_mask(product, _mm512_setzero_ps(), _CMP_NEQ_OQ);
  return _mm512_mask_add_ps(_mm512_set1_ps(-1e4f), any, ea, eb);
}

/// The integer sum of sixteen lanes, each below 2^28.
inline double sum_of(__m512i v) {
  const __m256i eight = _mm256_add_epi32(lower(v), upper(v));
  const __m256d four = _mm256_cvtepi32_pd(_mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1)));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

inline const uint8_t* values(const ByteOperand& x, unsigned row) { return x.tiles[kValues][0] + size_t{64} * row; }

/// Computes one element, with its products in two vectors.
void cut_element(const ByteProduct& x, unsigned m, unsigned n) {
  const __m512i row = _mm512_loadu_si512(values(x.rows, m)), lane = _mm512_loadu_si512(values(x.lanes, n));
  const __m512 first = _mm512_mul_ps(even(row), even(lane)), second = _mm512_mul_ps(odd(row), odd(lane));
  const __m512 exponents = _mm512_max_ps(product_exponents(even(row), even(lane), first, x), product_exponents(odd(row), odd(lane), second, x));
  const uint32_t c = x.c == nullptr ? 0 : x.c[m * x.c_stride + n];
  const int scale = x.rows.exponents[m] + x.lanes.exponents[n] + x.rows.unit + x.lanes.unit, field = larger(static_cast<int>(c >> 23 & 0xFF), 1);
  const int quantum = larger(static_cast<int>(_mm512_reduce_max_ps(exponents)), field - 127 - scale) - x.window, absolute = quantum + scale;
  const __m512 up = _mm512_set1_ps(power(larger(smaller(-quantum, kFar), -kFar)));
  const __m512i cut = _mm512_add_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(first, up)), _mm512_cvttps_epi32(_mm512_mul_ps(second, up)));
  const double c_units = static_cast<double>(__builtin_bit_cast(float, c)) * double_power(-absolute);
  const double sum = sum_of(cut) + static_cast<double>(static_cast<int>(c_units));
  const __m128 d = _mm_cvt_roundsd_ss(_mm_setzero_ps(), _mm_set_sd(sum * double_power(absolute)), kTowardZero);
  x.d[m * x.d_stride + n] = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(d)));
}

/// Largest exponents of the products of all lanes.
__m512i tops_of(const ByteProduct& x, const uint8_t* row, const uint8_t* turned) {
  __m512 top = _mm512_set1_ps(-1e4f);
  for (unsigned w = 0; w < 16; ++w) {
    const __m512i pair = row_pair(row, w), lanes = _mm512_load_si512(turned + 64 * w);
    top = _mm512_max_ps(top, product_exponents(even(pair), even(lanes), _mm512_mul_ps(even(pair), even(lanes)), x));
    top = _mm512_max_ps(top, product_exponents(odd(pair), odd(lanes), _mm512_mul_ps(odd(pair), odd(lanes)), x));
  }
  return _mm512_cvttps_epi32(top);
}

/// Sum of pairs 8 `part` .. 8 `part` + 7 for all lanes, in units of the quantum: |term| < 2^27, |sum| < 2^31.
inline __m512i cut_sum(const uint8_t* row, const uint8_t* turned, unsigned part, __m512 scale) {
  __m512i sum = _mm512_setzero_si512();
  for (unsigned w = 8 * part; w < 8 * part + 8; ++w) {
    const __m512i pair = row_pair(row, w), lanes = _mm512_load_si512(turned + 64 * w);
    sum = _mm512_add_epi32(sum, _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(even(pair), even(lanes)), scale)));
    sum = _mm512_add_epi32(sum, _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(odd(pair), odd(lanes)), scale)));
  }
  return sum;
}

inline __m512d double_powers(__m256i e) {
  const __m512i biased = _mm512_cvtepi32_epi64(_mm256_add_epi32(e, _mm256_set1_epi32(1023)));
  return _mm512_castsi512_pd(_mm512_slli_epi64(biased, 52));
}

/// Computes sixteen columns together. Sums in units of the quantum are below 2^33.
void cut_columns(const ByteProduct& x, unsigned m, unsigned n, uint16_t wanted) {
  alignas(64) uint8_t turned[kTileBytes];
  for (unsigned r = 0; r < kTileRows; ++r) _mm512_store_si512(turned + 64 * r, _mm512_loadu_si512(values(x.lanes, n + r)));
  turn_tile(turned);
  const uint8_t* row = values(x.rows, m);
  const __m512i c = x.c == nullptr ? _mm512_setzero_si512() : _mm512_loadu_si512(x.c + m * x.c_stride + n);
  const __m512i scale = _mm512_add_epi32(splat(x.rows.exponents[m] + x.rows.unit + x.lanes.unit), _mm512_loadu_si512(x.lanes.exponents + n));
  const __m512i field = _mm512_max_epi32(_mm512_srli_epi32(_mm512_slli_epi32(c, 1), 24), splat(1));
  const __m512i c_top = _mm512_sub_epi32(_mm512_sub_epi32(field, splat(127)), scale);
  const __m512i quantum = _mm512_sub_epi32(_mm512_max_epi32(tops_of(x, row, turned), c_top), splat(x.window)), absolute = _mm512_add_epi32(quantum, scale);
  const __m512i up = _mm512_max_epi32(_mm512_min_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), quantum), splat(kFar)), splat(-kFar));
  const __m512i first = cut_sum(row, turned, 0, power_of_two(up)), second = cut_sum(row, turned, 1, power_of_two(up));
  const auto half = [](__m256i a, __m256i b, __m256i addend, __m256i e) __attribute__((always_inline)) {
    const __m512d c_units = _mm512_mul_pd(_mm512_cvtps_pd(_mm256_castsi256_ps(addend)), double_powers(_mm256_sub_epi32(_mm256_setzero_si256(), e)));
    const __m512d products = _mm512_add_pd(_mm512_cvtepi32_pd(a), _mm512_cvtepi32_pd(b));
    const __m512d sum = _mm512_add_pd(products, _mm512_cvtepi32_pd(_mm512_cvttpd_epi32(c_units)));
    return _mm512_cvt_roundpd_ps(_mm512_mul_pd(sum, double_powers(e)), kTowardZero);
  };
  const __m256 low_half = half(lower(first), lower(second), lower(c), lower(absolute));
  const __m256 high_half = half(upper(first), upper(second), upper(c), upper(absolute));
  _mm512_mask_storeu_ps(x.d + m * x.d_stride + n, wanted, _mm512_insertf32x8(_mm512_castps256_ps512(low_half), high_half, 1));
}

}  // namespace

void cut_products(const ByteProduct& x, unsigned row, unsigned column, uint16_t lanes) {
  if (__builtin_popcount(lanes) > kFewLanes) return cut_columns(x, row, column, lanes);
  for (uint32_t left = lanes; left != 0; left &= left - 1) cut_element(x, row, column + static_cast<unsigned>(__builtin_ctz(left)));
}

}  // namespace drywell::numeric
#endif
