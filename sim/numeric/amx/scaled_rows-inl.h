// Decodes rows of block-scaled e2m1 into tiles of bf16. Only for files that are compiled for processors with the tile unit.
#pragma once

#include <immintrin.h>

#include "sim/numeric/amx/scaled.h"

namespace drywell::numeric {
namespace {

inline __m512i splat(int v) { return _mm512_set1_epi32(v); }

/// A table of 256 bytes.
struct Bytes256 {
  explicit Bytes256(const int8_t* p)
      : t{_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64), _mm512_loadu_si512(p + 128), _mm512_loadu_si512(p + 192)} {}
  __m512i operator[](__m512i index) const {
    const __m512i low = _mm512_permutex2var_epi8(t[0], index, t[1]), high = _mm512_permutex2var_epi8(t[2], index, t[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high);
  }
  __m512i t[4];
};

// largest_byte, smallest_byte: the largest or smallest of the four signed bytes of each word.
inline __m512i sign_extended(__m512i v) { return _mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24); }
inline __m512i largest_byte(__m512i v) {
  v = _mm512_max_epi8(v, _mm512_srli_epi32(v, 16));
  return sign_extended(_mm512_max_epi8(v, _mm512_srli_epi32(v, 8)));
}
inline __m512i smallest_byte(__m512i v) {
  v = _mm512_min_epi8(v, _mm512_srli_epi32(v, 16));
  return sign_extended(_mm512_min_epi8(v, _mm512_srli_epi32(v, 8)));
}

/// Scale codes of sixteen rows, four per row.
inline __m512i load_scales(const ScaledRows& in, unsigned first) {
  const uint8_t* scales = in.scales + first * in.scale_stride;
  if (in.scales_per_row == 4 && in.scale_stride == 4) return _mm512_loadu_si512(scales);
  if (in.scales_per_row == 2 && in.scale_stride == 2) {
    const __m512i pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
    return _mm512_shuffle_epi8(pairs, _mm512_broadcast_i32x4(_mm_set_epi8(13, 13, 12, 12, 9, 9, 8, 8, 5, 5, 4, 4, 1, 1, 0, 0)));
  }
  alignas(64) uint8_t codes[kTileRows][4];
  for (unsigned r = 0; r < kTileRows; ++r, scales += in.scale_stride)
    for (unsigned g = 0; g < 4; ++g) codes[r][g] = scales[in.scales_per_row == 4 ? g : g / 2];
  return _mm512_load_si512(codes);
}

struct Row {
  __m512i planes[kScaledPlanes];
  __m512 squares;  // of its elements, to be added
};

inline __m512i two_groups(const ScaledE2m1& a, const ScaledE2m1& b) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(&a))),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&b)), 1);
}

inline Row decode_row(const uint8_t* codes, const ScaledE2m1* values, const uint8_t* scales, __m512i flip) {
  const __m512i first = two_groups(values[scales[0]], values[scales[1]]), second = two_groups(values[scales[2]], values[scales[3]]);
  // Each group's eight bytes twice: the first copy has the low nibbles. The order of elements is not significant if both
  // operands have the same.
  const __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)));
  const __m512i twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), bytes);
  const __m512i shifted = _mm512_mask_srli_epi16(twice, 0xF0F0F0F0, twice, 4);
  const __m512i nibbles = _mm512_xor_si512(_mm512_and_si512(shifted, _mm512_set1_epi8(15)), flip);
  const __m512i low = _mm512_shuffle_epi8(_mm512_shuffle_i64x2(first, second, 0x88), nibbles);
  const __m512i high = _mm512_shuffle_epi8(_mm512_shuffle_i64x2(first, second, 0xDD), nibbles);
  Row row;
  row.planes[0] = _mm512_unpacklo_epi8(low, high);
  row.planes[1] = _mm512_unpackhi_epi8(low, high);
  row.squares = _mm512_setzero_ps();
  for (const __m512i& p : row.planes) row.squares = _mm512_dpbf16_ps(row.squares, (__m512bh)p, (__m512bh)p);
  return row;
}

inline constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
/// The sum of all lanes.
inline float total(__m512 v) {
  v = _mm512_add_round_ps(v, _mm512_shuffle_f32x4(v, v, 0x4E), kNearest);
  v = _mm512_add_round_ps(v, _mm512_shuffle_f32x4(v, v, 0xB1), kNearest);
  v = _mm512_add_round_ps(v, _mm512_permute_ps(v, 0x4E), kNearest);
  return _mm512_cvtss_f32(_mm512_add_round_ps(v, _mm512_permute_ps(v, 0xB1), kNearest));
}

/// Bounds of sixteen rows: the largest and smallest exponents of their scales, and the span of decode_scaled.
struct TileBounds {
  __m512i tops, lowest;
  float span;
};

/// Decodes tiles of rows, four rows at a time. Sets no exception flag of the processor (see FractionFlags of steps-inl.h).
class RowDecoder {
 public:
  static constexpr unsigned kPieceRows = 4, kPieces = kTileRows / kPieceRows;

  explicit RowDecoder(const ScaledRows& in)
      : in_(in), tops_(in.table->tops), lowest_(in.table->lowest), units_(in.table->units), flip_(_mm512_set1_epi8(in.negate ? 8 : 0)) {}

  /// Begins the tile with rows from `first` on; the distance of its planes is `plane` bytes.
  void begin(unsigned first, uint8_t* tile, size_t plane) {
    constexpr int kNoLowest = -1 - ScaleTable::kNone;
    const __m512i codes = load_scales(in_, first), unit = smallest_byte(units_[codes]);
    const __m512i any = _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(unit, splat(kNoLowest)), unit);
    _mm512_store_si512(inverses_, _mm512_slli_epi32(_mm512_sub_epi32(splat(127), _mm512_slli_epi32(any, 1)), 23));
    _mm512_store_si512(scales_, codes);
    bounds_.tops = largest_byte(tops_[codes]);
    bounds_.lowest = smallest_byte(lowest_[codes]);
    squares_ = _mm512_setzero_ps();
    codes_ = in_.codes + first * in_.stride;
    tile_ = tile;
    plane_ = plane;
  }

  void piece(unsigned index) {
    __m512 squares = squares_;  // maxima per lane: their sum is an upper bound of every row's sum
    for (unsigned r = kPieceRows * index; r < kPieceRows * (index + 1); ++r) {
      const Row row = decode_row(codes_ + r * in_.stride, in_.table->values, scales_[r], flip_);
      squares = _mm512_max_ps(squares, _mm512_mul_round_ps(row.squares, _mm512_set1_ps(inverses_[r]), kNearest));
      for (unsigned p = 0; p < kScaledPlanes; ++p) _mm512_store_si512(tile_ + p * plane_ + 64 * r, row.planes[p]);
    }
    squares_ = squares;
  }

  /// Bounds of the tile; call it after all pieces are decoded.
  TileBounds bounds() {
    bounds_.span = total(squares_);
    return bounds_;
  }

 private:
  const ScaledRows in_;
  const Bytes256 tops_, lowest_, units_;
  const __m512i flip_;
  const uint8_t* codes_ = nullptr;
  uint8_t* tile_ = nullptr;
  size_t plane_ = 0;
  TileBounds bounds_;
  __m512 squares_;
  alignas(64) float inverses_[kTileRows];  // of the units squared
  alignas(64) uint8_t scales_[kTileRows][4];
};

}  // namespace
}  // namespace drywell::numeric
