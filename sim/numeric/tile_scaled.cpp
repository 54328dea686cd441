#include "sim/numeric/tile_scaled.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

#include "sim/numeric/tile_steps-inl.h"

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

/// The largest or smallest of the four signed bytes of each word.
inline __m512i sign_extended(__m512i v) { return _mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24); }
inline __m512i largest_byte(__m512i v) {
  v = _mm512_max_epi8(v, _mm512_srli_epi32(v, 16));
  return sign_extended(_mm512_max_epi8(v, _mm512_srli_epi32(v, 8)));
}
inline __m512i smallest_byte(__m512i v) {
  v = _mm512_min_epi8(v, _mm512_srli_epi32(v, 16));
  return sign_extended(_mm512_min_epi8(v, _mm512_srli_epi32(v, 8)));
}

/// Scale codes of sixteen rows, four a row.
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
  // A group's eight bytes twice: the first copy gives the low nibbles. The order of elements does not matter as long as
  // both operands have the same.
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

/// A block is 64 columns.
constexpr unsigned kBlockTiles = 4, kBlockColumns = 16 * kBlockTiles;

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;

/// What makes an element sound, by row.
struct ScaledLimits {
  alignas(64) uint32_t wanted[kScaledMaxRows];    // a bit for each 32 columns: products are exact, and no group is cut off
  alignas(64) uint32_t greatest[kScaledMaxRows];  // |C| that cuts off no group, bits of a float
  alignas(64) float quanta[kScaledMaxRows];       // one over the quantum that C must be a multiple of
  // For all rows of a tile:
  uint32_t tile_wanted[kScaledMaxRows / kTileRows], tile_greatest[kScaledMaxRows / kTileRows];
  float tile_quanta[kScaledMaxRows / kTileRows];

  explicit ScaledLimits(const ScaledProduct& x) {
    for (unsigned m = 0; m < x.row_count; m += kTileRows) limit_c(x, m, limit_columns(x, m));
  }

 private:
  /// Columns whose products with the tile's rows are exact. No partial sum of products of two rows is larger than the product of
  /// their lengths (Cauchy-Schwarz).
  static __m512i limit_columns(const ScaledProduct& x, unsigned m) {
    constexpr float kExact = 0x1p48f * 0.999f;
    const float span = x.row_bounds.spans[m / kTileRows];
    uint32_t columns = 0;
    for (unsigned t = 0; t < x.columns / kTileRows; t += 2)
      if (span * x.lane_bounds.spans[t] < kExact && span * x.lane_bounds.spans[t + 1] < kExact) columns |= 1u << t / 2;
    return splat(static_cast<int>(columns));
  }

  void limit_c(const ScaledProduct& x, unsigned m, __m512i columns) {
    const __m512i top = _mm512_add_epi32(_mm512_loadu_si512(x.row_bounds.tops + m), splat(x.lane_range.greatest_top));
    const __m512i bottom = _mm512_add_epi32(_mm512_loadu_si512(x.row_bounds.lowest + m), splat(x.lane_range.least_lowest));
    const __m512i quantum = _mm512_sub_epi32(top, splat(x.window)), depth = _mm512_sub_epi32(bottom, splat(x.group_depth));
    const __m512i largest = _mm512_min_epi32(_mm512_add_epi32(depth, splat(x.window)), splat(126));
    const __mmask16 sound = _mm512_cmple_epi32_mask(quantum, depth) & _mm512_cmpge_epi32_mask(largest, splat(-126));
    const __m512i bits = _mm512_sub_epi32(_mm512_slli_epi32(_mm512_add_epi32(largest, splat(128)), 23), splat(1));
    // Exponents beyond these are those of rows without a scale: nothing is cut off.
    const __mmask16 any = _mm512_cmplt_epi32_mask(_mm512_abs_epi32(quantum), splat(126));
    const __m512i inverse = _mm512_maskz_slli_epi32(any, _mm512_sub_epi32(splat(127), quantum), 23);
    columns = _mm512_maskz_mov_epi32(sound, columns);
    _mm512_store_si512(wanted + m, columns);
    _mm512_store_si512(greatest + m, bits);
    _mm512_store_si512(quanta + m, inverse);
    tile_wanted[m / kTileRows] = static_cast<uint32_t>(_mm512_reduce_and_epi32(columns));
    tile_greatest[m / kTileRows] = _mm512_reduce_min_epu32(bits);
    tile_quanta[m / kTileRows] = _mm512_reduce_min_ps(_mm512_castsi512_ps(inverse));
  }
};

/// The product of all blocks. Whether the C of a whole block is sound is asked while the block before is finished, by the
/// limits of its tile and by the processor's inexact flag; if it is not, each row answers for itself.
template <bool kWithC>
class Scaled {
 public:
  explicit Scaled(const ScaledProduct& x)
      : x_(x), limits_(x), row_plane_(size_t{x.row_count} / kTileRows * kTileBytes),
        lane_plane_(size_t{x.columns} / kTileRows * kTileBytes), down_(x.row_count / kTileRows) {}
  unsigned blocks() const { return down_ * (x_.columns / kBlockColumns); }

  void begin(unsigned block) {
    if (begun_) judge();
    begun_ = true;
    block_ = block;
    const unsigned tile = block % down_, next = (block + 1) % down_;
    const uint8_t* rows = x_.rows + size_t{tile} * kTileBytes;
    load_tile<4>(rows);
    load_tile<5>(rows + row_plane_);
    prefetch_tile(x_.rows + size_t{next} * kTileBytes);
    prefetch_tile(x_.rows + row_plane_ + size_t{next} * kTileBytes);
    lanes_ = x_.lanes + size_t{block / down_} * kBlockTiles * kTileBytes;
    into_ ^= 1;
    quanta_ = _mm512_set1_ps(limits_.tile_quanta[tile]);
    greatest_ = _mm512_setzero_si512();
  }
  template <int kColumn>
  void column() {
    zero_tile<kColumn>();
    load_tile<6>(lanes_ + kColumn * kTileBytes);
    multiply_tiles<kColumn, 4, 6>();
    load_tile<7>(lanes_ + lane_plane_ + kColumn * kTileBytes);
    multiply_tiles<kColumn, 5, 7>();
    if (kWithC) look_at_c(kColumn);
  }
  template <int kColumn>
  void store() {
    store_tile<kColumn>(sums_[into_] + kColumn * kTileFloats);
  }

  /// Four rows of the block before the one last begun.
  void finish(unsigned block, unsigned quarter, uint32_t* left) const {
    const unsigned m = block % down_ * kTileRows + 4 * quarter, n = block / down_ * kBlockColumns;
    const float* sums = sums_[into_ ^ 1] + 16 * 4 * quarter;
    if (sound_) return sound_rows(m, n, sums);
    for (unsigned r = 0; r < 4; ++r) left[m + r] |= row(m + r, n, sums + 16 * r);
  }
  void end(unsigned) {}

 private:
  const uint32_t* c(unsigned m, unsigned n) const { return x_.c + m * x_.c_stride + n; }
  float* d(unsigned m, unsigned n) const { return reinterpret_cast<float*>(x_.d) + m * x_.d_stride + n; }

  /// A quarter of the block begun. |C| in quanta is rounded up, so that nothing but 0 becomes 0.
  void look_at_c(unsigned quarter) {
    const uint32_t* row = c(block_ % down_ * kTileRows + 4 * quarter, block_ / down_ * kBlockColumns);
    const size_t stride = x_.c_stride;
    const __m512 quanta = quanta_;
    __m512i greatest = greatest_;
    for (unsigned r = 0; r < 4; ++r, row += stride) {
      for (unsigned i = 0; i < kBlockTiles; ++i) {
        const __m512i magnitude = _mm512_and_si512(_mm512_loadu_si512(row + 16 * i), splat(0x7FFFFFFF));
        greatest = _mm512_max_epu32(greatest, magnitude);
        flag_fractions(_mm512_mul_round_ps(_mm512_castsi512_ps(magnitude), quanta, kUp));
      }
    }
    greatest_ = greatest;
  }

  void judge() {
    const unsigned tile = block_ % down_, n = block_ / down_ * kBlockColumns;
    sound_ = (limits_.tile_wanted[tile] >> n / 32 & 3) == 3;
    if (!kWithC) return;
    if (_mm512_cmpgt_epu32_mask(greatest_, splat(static_cast<int>(limits_.tile_greatest[tile]))) != 0) sound_ = false;
    if (flags_.any()) sound_ = false;
  }

  void sound_rows(unsigned m, unsigned n, const float* sums) const {
    const uint32_t* from = kWithC ? c(m, n) : nullptr;
    float* to = d(m, n);
    const size_t c_stride = x_.c_stride, d_stride = x_.d_stride;
    for (unsigned r = 0; r < 4; ++r, sums += 16, from += kWithC ? c_stride : 0, to += d_stride) {
      __m512 sum[kBlockTiles];
      for (unsigned i = 0; i < kBlockTiles; ++i) {
        sum[i] = _mm512_loadu_ps(sums + i * kTileFloats);
        if (kWithC) sum[i] = _mm512_add_round_ps(sum[i], _mm512_loadu_ps(from + 16 * i), kTowardZero);
      }
      for (unsigned i = 0; i < kBlockTiles; ++i) _mm512_storeu_ps(to + 16 * i, sum[i]);
    }
  }

  /// 64 columns of a row; returns what is left of them.
  uint32_t row(unsigned m, unsigned n, const float* sums) const {
    uint32_t todo = limits_.wanted[m] >> n / 32 & 3;
    __m512 result[kBlockTiles];
    uint32_t unsound[2] = {};
    for (unsigned i = 0; i < kBlockTiles; ++i) {
      result[i] = _mm512_loadu_ps(sums + i * kTileFloats);
      if (kWithC) unsound[i / 2] |= add_c(m, n + 16 * i, result[i]);
    }
    todo &= (unsound[0] == 0 ? 1u : 0u) | (unsound[1] == 0 ? 2u : 0u);
    for (unsigned i = 0; i < kBlockTiles; ++i)
      if ((todo >> i / 2 & 1) != 0) _mm512_storeu_ps(d(m, n + 16 * i), result[i]);
    return (~todo & 3) << n / 32;
  }

  /// Returns lanes where that is not sound.
  uint32_t add_c(unsigned m, unsigned n, __m512& sum) const {
    const __m512i bits = _mm512_loadu_si512(c(m, n)), magnitude = _mm512_and_si512(bits, splat(0x7FFFFFFF));
    const __m512 units = _mm512_mul_round_ps(_mm512_castsi512_ps(magnitude), _mm512_set1_ps(limits_.quanta[m]), kUp);
    const __m512 whole = _mm512_roundscale_ps(units, kTowardZero);
    sum = _mm512_add_round_ps(sum, _mm512_castsi512_ps(bits), kTowardZero);
    return static_cast<uint32_t>(_mm512_cmp_ps_mask(whole, units, _CMP_NEQ_UQ) |
                                 _mm512_cmpgt_epu32_mask(magnitude, splat(static_cast<int>(limits_.greatest[m]))));
  }

  const ScaledProduct& x_;
  const ScaledLimits limits_;
  const size_t row_plane_, lane_plane_;
  const unsigned down_;
  const uint8_t* lanes_ = nullptr;
  unsigned into_ = 0, block_ = 0;
  bool begun_ = false, sound_ = false;
  __m512 quanta_;
  __m512i greatest_;
  FractionFlags flags_;
  alignas(64) float sums_[2][kBlockTiles * kTileFloats];
};

template <bool kWithC>
void multiply_all(const ScaledProduct& x, uint32_t* left) {
  Scaled<kWithC> product(x);
  pipeline<kBlockTiles>(product.blocks(), product, [&](unsigned block, unsigned quarter) __attribute__((always_inline)) { product.finish(block, quarter, left); });
}

}  // namespace

ScaledRange decode_scaled(const ScaledRows& in, TileSide side, uint8_t* tiles, const ScaledBounds& bounds) {
  const __m512i flip = _mm512_set1_epi8(in.negate ? 8 : 0);
  const Bytes256 tops(in.table->tops), lowest(in.table->lowest), units(in.table->units);
  const size_t plane = size_t{in.rows} / kTileRows * kTileBytes;
  constexpr int kNoLowest = -1 - ScaleTable::kNone;
  __m512i greatest_top = splat(ScaleTable::kNone), least_lowest = splat(kNoLowest);
  for (unsigned first = 0; first < in.rows; first += kTileRows) {
    uint8_t* tile = tiles + size_t{first} / kTileRows * kTileBytes;
    const __m512i codes = load_scales(in, first), top = largest_byte(tops[codes]), low = smallest_byte(lowest[codes]);
    greatest_top = _mm512_max_epi32(greatest_top, top);
    least_lowest = _mm512_min_epi32(least_lowest, low);
    _mm512_storeu_si512(bounds.tops + first, top);
    _mm512_storeu_si512(bounds.lowest + first, low);
    const __m512i unit = smallest_byte(units[codes]), any = _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(unit, splat(kNoLowest)), unit);
    alignas(64) float inverses[kTileRows];  // of the units squared
    _mm512_store_si512(inverses, _mm512_slli_epi32(_mm512_sub_epi32(splat(127), _mm512_slli_epi32(any, 1)), 23));
    __m512 squares = _mm512_setzero_ps();  // the sum of the largest is not below the largest sum
    alignas(64) uint8_t scales[kTileRows][4];
    _mm512_store_si512(scales, codes);
    for (unsigned r = 0; r < kTileRows; ++r) {
      const Row row = decode_row(in.codes + (first + r) * in.stride, in.table->values, scales[r], flip);
      squares = _mm512_max_ps(squares, _mm512_mul_ps(row.squares, _mm512_set1_ps(inverses[r])));
      for (unsigned p = 0; p < kScaledPlanes; ++p) _mm512_storeu_si512(tile + p * plane + 64 * r, row.planes[p]);
    }
    bounds.spans[first / kTileRows] = _mm512_reduce_add_ps(squares);
    for (unsigned p = 0; side == TileSide::lanes && p < kScaledPlanes; ++p) turn_tile(tile + p * plane);
  }
  return {_mm512_reduce_max_epi32(greatest_top), _mm512_reduce_min_epi32(least_lowest)};
}

void multiply_scaled(const ScaledProduct& x, uint32_t* left) {
  for (unsigned m = 0; m < x.row_count; ++m) left[m] = 0;
  x.c == nullptr ? multiply_all<false>(x, left) : multiply_all<true>(x, left);
}

}  // namespace drywell::numeric
#endif
