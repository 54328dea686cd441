#include "sim/numeric/tile_bytes.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

struct Bytes128 {
  explicit Bytes128(const uint8_t* p) : low(_mm512_loadu_si512(p)), high(_mm512_loadu_si512(p + 64)) {}
  __m512i operator[](__m512i index) const { return _mm512_permutex2var_epi8(low, index, high); }
  __m512i low, high;
};

inline __m256i upper(__m512i v) { return _mm512_extracti64x4_epi64(v, 1); }
inline __m256i lower(__m512i v) { return _mm512_castsi512_si256(v); }
inline __m512i splat(int v) { return _mm512_set1_epi32(v); }

inline __m512i half_words(__m256i low, __m256i high) {
  return _mm512_or_si512(_mm512_cvtepu8_epi16(low), _mm512_slli_epi16(_mm512_cvtepu8_epi16(high), 8));
}
/// Two rows of powers of two.
inline void store_powers(uint8_t* tile, __m512i fields) {
  _mm512_storeu_si512(tile, _mm512_slli_epi16(_mm512_cvtepu8_epi16(lower(fields)), 7));
  _mm512_storeu_si512(tile + 64, _mm512_slli_epi16(_mm512_cvtepu8_epi16(upper(fields)), 7));
}

inline __m512i two_rows(const uint8_t* codes, size_t stride) {
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + stride));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

/// Pairs of bf16 as two vectors of floats.
inline void store_pairs(__m512i pairs, float* even, float* odd) {
  _mm512_storeu_si512(even, _mm512_slli_epi32(pairs, 16));
  _mm512_storeu_si512(odd, _mm512_and_si512(pairs, splat(static_cast<int>(0xFFFF0000))));
}

inline float length_of(__m512i row) {
  const __m512 squares = _mm512_dpbf16_ps(_mm512_setzero_ps(), (__m512bh)row, (__m512bh)row);
  constexpr float kMargin = 1.001f;
  return __builtin_sqrtf(_mm512_reduce_add_ps(squares)) * kMargin;
}

/// Sixteen rows of codes into one tile of each plane.
struct TileDecoder {
  explicit TileDecoder(const ByteTable& t)
      : low(t.low), high(t.high), tops(t.tops), bottoms(t.bottoms), bad(t.bad), mask(_mm512_set1_epi8(static_cast<char>(t.mask))),
        sign(_mm512_set1_epi8(static_cast<char>(t.sign))) {}

  /// Returns bits of rows with bad elements.
  unsigned operator()(const uint8_t* codes, size_t stride, __m512i flip, uint8_t* tile, size_t plane, float* lengths) const {
    unsigned bad_rows = 0;
    for (unsigned r = 0; r < kTileRows; r += 2) {
      const __m512i c = _mm512_and_si512(_mm512_xor_si512(two_rows(codes + r * stride, stride), flip), mask);
      const __m512i l = low[c], h = _mm512_or_si512(high[c], _mm512_and_si512(c, sign));
      const __m512i rows[2] = {half_words(lower(l), lower(h)), half_words(upper(l), upper(h))};
      for (unsigned i = 0; i < 2; ++i) {
        _mm512_storeu_si512(tile + 64 * (r + i), rows[i]);
        lengths[r + i] = length_of(rows[i]);
      }
      store_powers(tile + kTops * plane + 64 * r, tops[c]);
      store_powers(tile + kBottoms * plane + 64 * r, bottoms[c]);
      const __m512i unfit = bad[c];
      const uint64_t b = _mm512_test_epi8_mask(unfit, unfit);
      bad_rows |= (b << 32 != 0 ? 1u : 0u) << r | (b >> 32 != 0 ? 2u : 0u) << r;
    }
    return bad_rows;
  }
  Bytes128 low, high, tops, bottoms, bad;
  __m512i mask, sign;
};

/// The largest e, plus kOffset, of a sum of 64^e; 0 if it is 0.
constexpr int kOffset = 32;
inline __m512i largest_exponent(__m512 powers) {
  constexpr int kSixth = (1 << 16) / kExponentStep + 1;
  const __m512i field = _mm512_srli_epi32(_mm512_castps_si512(powers), 23);
  return _mm512_mulhi_epu16(_mm512_add_epi32(field, splat(kOffset * kExponentStep - 127)), splat(kSixth));
}

inline __m512i power_bits(__m512i biased) { return _mm512_slli_epi32(biased, 23); }
inline __m512 power_of_two(__m512i e) { return _mm512_castsi512_ps(power_bits(_mm512_add_epi32(e, splat(127)))); }

/// One vector of D on its way. The quantum is relative to `scale`, the exponent of the row's and the column's units.
struct Vector {
  __m512i c, scale, top, quantum;
  __mmask16 doubtful;
};

/// Powers of two that are made of quanta from here on are normal floats, and so is every result.
constexpr int kLeastQuantum = -120;
/// So many elements of a vector are computed one by one, more of them together.
constexpr unsigned kFewLanes = 3;

/// Elements of a row that replace what their vectors gave.
struct Patches {
  unsigned count = 0, at[2 * kFewLanes];
  float value[2 * kFewLanes];
};

inline float power(int e) { return __builtin_bit_cast(float, static_cast<uint32_t>(e + 127) << 23); }

/// One row of D.
class Finisher {
 public:
  Finisher(const ByteFinish& x, unsigned row)
      : x_(x), row_(row), exponent_(splat(x.row_exponents[row] + x.unit)), length_(_mm512_set1_ps(x.row_lengths[row])),
        bad_((x.bad_rows >> row & 1) != 0 ? 0xFFFF : 0) {}

  /// 32 columns; false if they are not written.
  bool pair(unsigned n) const {
    __m512 result[2];
    Patches patches;
    for (unsigned i = 0; i < 2; ++i)
      if (!vector(n + 16 * i, result[i], patches)) return false;
    float* d = reinterpret_cast<float*>(x_.d) + row_ * x_.d_stride;
    for (unsigned i = 0; i < 2; ++i) _mm512_storeu_ps(d + n + 16 * i, result[i]);
    for (unsigned i = 0; i < patches.count; ++i) d[patches.at[i]] = patches.value[i];
    return true;
  }

 private:
  size_t at(unsigned n) const { return size_t{n} / 16 * (kTileBytes / 4) + 16 * row_; }

  bool vector(unsigned n, __m512& result, Patches& patches) const {
    Vector v;
    v.c = x_.c == nullptr ? _mm512_setzero_si512() : _mm512_loadu_si512(x_.c + row_ * x_.c_stride + n);
    v.scale = _mm512_add_epi32(exponent_, _mm512_loadu_si512(x_.column_exponents + n));
    // Exponents of C: raw, that is at least that of a subnormal.
    const __m512i field = _mm512_max_epi32(_mm512_srli_epi32(_mm512_slli_epi32(v.c, 1), 24), splat(1));
    const __m512i c_top = _mm512_sub_epi32(_mm512_sub_epi32(field, splat(127)), v.scale);
    const __m512 tops = _mm512_loadu_ps(x_.tops + at(n));
    const __mmask16 any = _mm512_test_epi32_mask(_mm512_castps_si512(tops), _mm512_castps_si512(tops));
    v.top = _mm512_sub_epi32(largest_exponent(tops), splat(kOffset));
    v.quantum = _mm512_sub_epi32(_mm512_mask_max_epi32(c_top, any, c_top, v.top), splat(x_.window));
    const __m512i bottom = _mm512_sub_epi32(splat(kOffset), largest_exponent(_mm512_loadu_ps(x_.bottoms + at(n))));
    const __m512 limit = _mm512_castsi512_ps(power_bits(_mm512_add_epi32(bottom, splat(24 + 127))));
    v.doubtful = static_cast<__mmask16>(bad_ | x_.bad_lanes[n / 16]);
    const __mmask16 cut = _mm512_cmpgt_epi32_mask(v.quantum, bottom);
    const __mmask16 rounded = _mm512_cmp_ps_mask(_mm512_mul_ps(length_, _mm512_loadu_ps(x_.column_lengths + n)), limit, _CMP_NLT_UQ);
    constexpr int kGreatest = 100 + 127;
    if (_mm512_cmpgt_epi32_mask(field, splat(kGreatest)) != 0) return false;
    const uint32_t again = (cut | rounded | v.doubtful) & any;
    v.doubtful &= any;
    if (static_cast<unsigned>(__builtin_popcount(again)) > kFewLanes) return truncated(v, n, result);
    // C without what lies below the quantum.
    const __m512i drop = _mm512_max_epi32(_mm512_add_epi32(_mm512_sub_epi32(v.quantum, c_top), splat(23)), _mm512_setzero_si512());
    const __mmask16 some = _mm512_cmple_epi32_mask(drop, splat(23));
    const __m512i c = _mm512_maskz_and_epi32(some, v.c, _mm512_sllv_epi32(splat(-1), drop));
    result = _mm512_fmadd_round_ps(_mm512_loadu_ps(x_.sums + at(n)), power_of_two(v.scale), _mm512_castsi512_ps(c), kTowardZero);
    return again == 0 || truncated_lanes(v, again, n, patches);
  }

  bool truncated_lanes(const Vector& v, uint32_t lanes, unsigned n, Patches& patches) const {
    constexpr int kFar = 100;  // every product is far below
    int c[16], scale[16], top[16], quantum[16];
    _mm512_storeu_si512(c, v.c);
    _mm512_storeu_si512(scale, v.scale);
    _mm512_storeu_si512(top, v.top);
    _mm512_storeu_si512(quantum, v.quantum);
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(lanes));
      const int q = quantum[i] + scale[i];
      if (q < kLeastQuantum || ((v.doubtful >> i & 1) != 0 && top[i] < kCertainExponent)) return false;
      const __m128 c_units = _mm_mul_ss(_mm_castsi128_ps(_mm_cvtsi32_si128(c[i])), _mm_set_ss(power(-q)));
      const double sum = truncated_row(n + i, power(quantum[i] > kFar ? -kFar : -quantum[i])) + _mm_cvttss_si32(c_units);
      const __m128 d = _mm_cvt_roundsd_ss(_mm_setzero_ps(), _mm_set_sd(sum * power(q)), kTowardZero);
      patches.at[patches.count] = n + i;
      patches.value[patches.count++] = _mm_cvtss_f32(d);
    }
    return true;
  }

  /// The products of one element of D, cut, in units of the quantum.
  double truncated_row(unsigned column, float scale) const {
    const float *a = x_.rows + kTileK * row_, *b = x_.lanes + kTileK * column;
    const __m512 up = _mm512_set1_ps(scale);
    const __m512i even = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(a), _mm512_loadu_ps(b)), up));
    const __m512i odd = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(a + 16), _mm512_loadu_ps(b + 16)), up));
    const __m512i sum = _mm512_add_epi32(even, odd);  // below 2^28
    const __m256i eight = _mm256_add_epi32(lower(sum), upper(sum));
    const __m256d four = _mm256_cvtepi32_pd(_mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1)));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
  }

  /// Every product, and C, cut to a multiple of the quantum. Sums of them in units of it are below 2^33.
  bool truncated(const Vector& v, unsigned n, __m512& result) const {
    const __mmask16 uncertain = _mm512_mask_cmplt_epi32_mask(v.doubtful, v.top, splat(kCertainExponent));
    const __m512i quantum = _mm512_add_epi32(v.quantum, v.scale);
    if ((uncertain | _mm512_cmplt_epi32_mask(quantum, splat(kLeastQuantum))) != 0) return false;
    // The bounds bind only where every product is zero or below the quantum.
    const __m512i up = _mm512_max_epi32(_mm512_min_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), v.quantum), splat(100)), splat(-100));
    const __m512 scale = power_of_two(up);
    const __m512i first = truncated_sum(0, n, scale), second = truncated_sum(16, n, scale);
    const __m512i c = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(v.c), power_of_two(_mm512_sub_epi32(_mm512_setzero_si512(), quantum))));
    const __m512 unit = power_of_two(quantum);
    const auto half = [](__m512i a, __m512i b, __m512i add, __m256 by) __attribute__((always_inline)) {
      const __m512d sum = _mm512_add_pd(_mm512_add_pd(_mm512_cvtepi32_pd(lower(a)), _mm512_cvtepi32_pd(lower(b))), _mm512_cvtepi32_pd(lower(add)));
      return _mm512_cvt_roundpd_ps(_mm512_mul_pd(sum, _mm512_cvtps_pd(by)), kTowardZero);
    };
    const auto high = [](__m512i x) __attribute__((always_inline)) { return _mm512_castsi256_si512(upper(x)); };
    const __m256 low_half = half(first, second, c, _mm512_castps512_ps256(unit));
    const __m256 high_half = half(high(first), high(second), high(c), _mm512_extractf32x8_ps(unit, 1));
    result = _mm512_insertf32x8(_mm512_castps256_ps512(low_half), high_half, 1);
    return true;
  }

  /// Sixteen products, in units of the quantum: |term| < 2^27, |sum| < 2^31.
  __m512i truncated_sum(unsigned k, unsigned n, __m512 scale) const {
    const float *a = x_.rows + kTileK * row_ + k, *b = x_.turned_lanes + kTileK * n + 16 * k;
    __m512i sum = _mm512_setzero_si512();
    for (unsigned i = 0; i < 16; ++i) {
      const __m512 product = _mm512_mul_ps(_mm512_loadu_ps(b + 16 * i), _mm512_set1_ps(a[i]));
      sum = _mm512_add_epi32(sum, _mm512_cvttps_epi32(_mm512_mul_ps(product, scale)));
    }
    return sum;
  }

  const ByteFinish& x_;
  const unsigned row_;
  const __m512i exponent_;
  const __m512 length_;
  const unsigned bad_;
};

}  // namespace

void decode_bytes(const ByteRows& in, TileSide side, const ByteOperand& out) {
  const TileDecoder decode(*in.table);
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(in.flip));
  const size_t plane = size_t{in.rows} / kTileRows * kTileBytes;
  for (unsigned first = 0; first < in.rows; first += kTileRows) {
    uint8_t* tile = out.tiles + size_t{first} / kTileRows * kTileBytes;
    out.bad[first / kTileRows] = static_cast<uint16_t>(decode(in.codes + first * in.stride, in.stride, flip, tile, plane, out.lengths + first));
    float* values = out.values + size_t{kTileK} * first;
    for (unsigned r = 0; r < kTileRows; ++r) store_pairs(_mm512_loadu_si512(tile + 64 * r), values + kTileK * r, values + kTileK * r + 16);
    if (side == TileSide::rows) continue;
    for (unsigned p = 0; p < kBytePlanes; ++p) turn_tile(tile + p * plane);
    float* turned = out.turned + size_t{kTileK} * first;
    for (unsigned r = 0; r < kTileRows; ++r) store_pairs(_mm512_loadu_si512(tile + 64 * r), turned + 16 * r, turned + 16 * (16 + r));
  }
}

uint8_t largest_code(const uint8_t* codes, size_t stride, unsigned rows) {
  const __m512i magnitude = _mm512_set1_epi8(0x7F);
  __m512i largest = _mm512_setzero_si512();
  for (unsigned r = 0; r < rows; r += 2) largest = _mm512_max_epu8(largest, _mm512_and_si512(two_rows(codes + r * stride, stride), magnitude));
  alignas(64) uint8_t bytes[64];
  _mm512_store_si512(bytes, largest);
  uint8_t result = 0;
  for (const uint8_t b : bytes) result = b > result ? b : result;
  return result;
}

void finish_bytes(const ByteFinish& x, uint32_t* left) {
  for (unsigned r = 0; r < kTileRows; ++r) {
    const Finisher row(x, r);
    left[r] = 0;
    for (unsigned n = 0; n < x.columns; n += 32)
      if (!row.pair(n)) left[r] |= 1u << n / 32;
  }
}

}  // namespace drywell::numeric
#endif
