#include "sim/numeric/tile_scaled.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

inline __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// Sixteen bytes for each group of a row.
inline __m512i by_group(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d) {
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load16(a)), load16(b), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load16(c)), load16(d), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

inline int smaller(int a, int b) { return a < b ? a : b; }
inline int larger(int a, int b) { return a < b ? b : a; }

struct Row {
  __m512i planes[kScaledPlanes];
  __m512 squares;  // of its elements, to be added
  int unit;        // exponent of their lowest bit
  bool fit;
};

inline Row decode_row(const ScaledRows& in, unsigned r, __m512i flip, const ScaledBounds& bounds) {
  const ScaleTable& table = *in.table;
  const uint8_t* s = in.scales + r * in.scale_stride;
  const uint8_t codes[4] = {s[0], s[in.scales_per_row == 4 ? 1 : 0], s[in.scales_per_row == 4 ? 2 : 1], s[in.scales_per_row - 1]};
  int top = ScaleTable::kZero, lowest = -ScaleTable::kZero, unit = -ScaleTable::kZero;
  for (const uint8_t code : codes) {
    const int e = table.exponents[code];
    top = larger(top, e);
    if (e == ScaleTable::kZero) continue;
    lowest = smaller(lowest, e);
    unit = smaller(unit, table.lowest_bits[code]);
  }
  const ScaledE2m1 *v0 = table.values + codes[0], *v1 = table.values + codes[1], *v2 = table.values + codes[2], *v3 = table.values + codes[3];
  // A group's eight bytes twice: the first copy gives the low nibbles. The order of elements does not matter as long as
  // both operands have the same.
  const __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in.codes + r * in.stride)));
  const __m512i twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), bytes);
  const __m512i shifted = _mm512_mask_srli_epi16(twice, 0xF0F0F0F0, twice, 4);
  const __m512i nibbles = _mm512_xor_si512(_mm512_and_si512(shifted, _mm512_set1_epi8(15)), flip);
  const __m512i low = _mm512_shuffle_epi8(by_group(v0->low, v1->low, v2->low, v3->low), nibbles);
  const __m512i high = _mm512_shuffle_epi8(by_group(v0->high, v1->high, v2->high, v3->high), nibbles);
  Row row;
  row.planes[0] = _mm512_unpacklo_epi8(low, high);
  row.planes[1] = _mm512_unpackhi_epi8(low, high);
  row.squares = _mm512_setzero_ps();
  for (const __m512i& p : row.planes) row.squares = _mm512_dpbf16_ps(row.squares, (__m512bh)p, (__m512bh)p);
  row.fit = top < ScaleTable::kUnfit;
  row.unit = row.fit && unit != -ScaleTable::kZero ? unit : 0;
  bounds.tops[r] = top;
  bounds.lowest[r] = lowest;
  return row;
}

/// Adds up the squares of sixteen rows, in units of each row's.
inline void store_spans(float (&squares)[kTileRows][16], const int (&units)[kTileRows], float* spans) {
  turn_tile(reinterpret_cast<uint8_t*>(squares));
  __m512 sum = _mm512_loadu_ps(squares[0]);
  for (unsigned i = 1; i < 16; ++i) sum = _mm512_add_ps(sum, _mm512_loadu_ps(squares[i]));
  const __m512i inverse = _mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(127), _mm512_slli_epi32(_mm512_loadu_si512(units), 1)), 23);
  _mm512_storeu_ps(spans, _mm512_mul_ps(sum, _mm512_castsi512_ps(inverse)));
}

/// Those of `lanes` whose C, less than 2^24 quanta, has bits below the quantum.
inline unsigned cut_off(__mmask16 lanes, __m512i c, float quanta) {
  const __m512 units = _mm512_mul_ps(_mm512_castsi512_ps(c), _mm512_set1_ps(quanta));
  return _mm512_mask_cmp_ps_mask(lanes, _mm512_cvtepi32_ps(_mm512_cvttps_epi32(units)), units, _CMP_NEQ_UQ);
}

}  // namespace

bool decode_scaled(const ScaledRows& in, TileSide side, uint8_t* tiles, const ScaledBounds& bounds) {
  const __m512i flip = _mm512_set1_epi8(in.negate ? 8 : 0);
  const size_t plane = size_t{in.rows} / kTileRows * kTileBytes;
  bool fit = true;
  for (unsigned first = 0; first < in.rows; first += kTileRows) {
    uint8_t* tile = tiles + size_t{first} / kTileRows * kTileBytes;
    alignas(64) float squares[kTileRows][16];
    int units[kTileRows];
    for (unsigned r = 0; r < kTileRows; ++r) {
      const Row row = decode_row(in, first + r, flip, bounds);
      fit = fit && row.fit;
      units[r] = row.unit;
      _mm512_store_ps(squares[r], row.squares);
      for (unsigned p = 0; p < kScaledPlanes; ++p) _mm512_storeu_si512(tile + p * plane + 64 * r, row.planes[p]);
    }
    store_spans(squares, units, bounds.spans + first);
    for (unsigned p = 0; side == TileSide::lanes && p < kScaledPlanes; ++p) turn_tile(tile + p * plane);
  }
  return fit;
}

void finish_scaled(const ScaledFinish& x, uint32_t* left) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  for (unsigned r = 0; r < kTileRows; ++r) {
    const uint32_t least = x.least[r];
    left[r] = ~x.wanted;
    if (least > x.greatest[r]) {
      left[r] = ~0u;
      continue;
    }
    const __m512i first = _mm512_set1_epi32(static_cast<int>(least)), range = _mm512_set1_epi32(static_cast<int>(x.greatest[r] - least));
    for (unsigned n = 0; n < x.columns; n += 32) {
      if ((x.wanted >> n / 32 & 1) == 0) continue;
      const float* sums = x.sums + size_t{n} / 16 * (kTileBytes / 4) + 16 * r;
      __m512 sum[2] = {_mm512_loadu_ps(sums), _mm512_loadu_ps(sums + kTileBytes / 4)};
      if (x.c != nullptr) {
        unsigned unsound = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const __m512i c = _mm512_loadu_si512(x.c + r * x.c_stride + n + 16 * i), m = _mm512_and_si512(c, magnitude);
          const __mmask16 outside = _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(m, first), range);
          const __mmask16 doubtful = _mm512_mask_test_epi32_mask(outside, m, m);
          if (doubtful != 0) unsound |= _mm512_mask_cmp_epu32_mask(doubtful, m, first, _MM_CMPINT_NLT) | cut_off(doubtful, c, x.quanta[r]);
          sum[i] = _mm512_add_round_ps(sum[i], _mm512_castsi512_ps(c), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        }
        if (unsound != 0) {
          left[r] |= 1u << n / 32;
          continue;
        }
      }
      for (unsigned i = 0; i < 2; ++i) _mm512_storeu_ps(reinterpret_cast<float*>(x.d) + r * x.d_stride + n + 16 * i, sum[i]);
    }
  }
}

}  // namespace drywell::numeric
#endif
