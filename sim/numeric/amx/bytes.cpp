#include "sim/numeric/amx/bytes.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

struct Bytes128 {
  explicit Bytes128(const uint8_t* p) : low(_mm512_loadu_si512(p)), high(_mm512_loadu_si512(p + 64)) {}
  __m512i operator[](__m512i index) const { return _mm512_permutex2var_epi8(low, index, high); }
  __m512i low, high;
};

inline __m256i upper(__m512i v) { return _mm512_extracti64x4_epi64(v, 1); }
inline __m256i lower(__m512i v) { return _mm512_castsi512_si256(v); }
inline int larger(int a, int b) { return a < b ? b : a; }
inline __m512i splat_byte(uint8_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }

inline __m512i half_words(__m256i low, __m256i high) {
  return _mm512_or_si512(_mm512_cvtepu8_epi16(low), _mm512_slli_epi16(_mm512_cvtepu8_epi16(high), 8));
}
/// Stores two rows of powers of two.
inline void store_powers(uint8_t* tile, __m512i fields) {
  _mm512_storeu_si512(tile, _mm512_slli_epi16(_mm512_cvtepu8_epi16(lower(fields)), 7));
  _mm512_storeu_si512(tile + 64, _mm512_slli_epi16(_mm512_cvtepu8_epi16(upper(fields)), 7));
}

inline __m512i two_rows(const uint8_t* codes, size_t stride) {
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + stride));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

/// Decodes sixteen rows of codes into one tile of each plane.
struct TileDecoder {
  explicit TileDecoder(const ByteRows& in)
      : low(in.table->low), high(in.table->high), bottoms(in.table->bottoms), mask(splat_byte(in.table->mask)), sign(splat_byte(in.table->sign)), flip(splat_byte(in.flip)), magnitude(splat_byte(in.magnitude)), bound(splat_byte(static_cast<uint8_t>(in.bound == 0 ? 0 : in.bound - 1))), split(in.split) {}

  /// `tiles`: the tile of plane kValues; the other planes follow at distances of `plane` bytes.
  void operator()(const uint8_t* codes, size_t stride, uint8_t* tiles, size_t plane) {
    for (unsigned r = 0; r < kTileRows; r += 2) {
      uint8_t* tile = tiles + 64 * r;
      const __m512i c = _mm512_and_si512(_mm512_xor_si512(two_rows(codes + r * stride, stride), flip), mask);
      const __m512i l = low[c], h = _mm512_or_si512(high[c], _mm512_and_si512(c, sign));
      const __m512i rows[2] = {half_words(lower(l), lower(h)), half_words(upper(l), upper(h))};
      for (unsigned i = 0; i < 2; ++i) {
        _mm512_storeu_si512(tile + 64 * i, rows[i]);
        if (!split) _mm512_storeu_si512(tile + kHigh * plane + 64 * i, rows[i]);
      }
      if (!split) continue;
      // Zeros are not low elements.
      const uint64_t lows = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(_mm512_and_si512(c, magnitude), splat_byte(1)), bound);
      for (unsigned i = 0; i < 2; ++i) {
        const auto mine = static_cast<__mmask32>(lows >> 32 * i);
        low_count = larger(low_count, __builtin_popcount(mine));
        _mm512_storeu_si512(tile + kLow * plane + 64 * i, _mm512_maskz_mov_epi16(mine, rows[i]));
        _mm512_storeu_si512(tile + kHigh * plane + 64 * i, _mm512_maskz_mov_epi16(~mine, rows[i]));
        // The sum over lanes of the maxima is an upper bound of every row's sum.
        square = _mm512_max_ps(square, _mm512_dpbf16_ps(_mm512_setzero_ps(), (__m512bh)rows[i], (__m512bh)rows[i]));
      }
      store_powers(tile + kBottoms * plane, bottoms[c]);
    }
  }

  Bytes128 low, high, bottoms;
  __m512i mask, sign, flip, magnitude, bound;
  bool split;
  __m512 square = _mm512_setzero_ps();
  int low_count = 0;
};

}  // namespace

void decode_bytes(const ByteRows& in, TileSide side, ByteOperand& out) {
  TileDecoder decode(in);
  for (unsigned t = 0; t < in.rows / kTileRows; ++t) {
    decode(in.codes + size_t{t} * kTileRows * in.stride, in.stride, out.tiles[kValues][t], sizeof(out.tiles[0]));
    if (side == TileSide::rows) continue;
    for (unsigned p = kHigh; p < (in.split ? kBytePlanes : kLow); ++p) turn_tile(out.tiles[p][t]);
  }
  out.square = _mm512_reduce_add_ps(decode.square) * 1.001f;
  out.low_count = decode.low_count;
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

}  // namespace drywell::numeric
#endif
