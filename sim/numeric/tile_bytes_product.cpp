#include "sim/numeric/tile_bytes.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

#include "sim/numeric/tile_steps-inl.h"

namespace drywell::numeric {
namespace {

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC,
              kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
/// C from here on, infinities and NaNs are left to others.
constexpr uint32_t kHuge = (100u + 127) << 23;

inline __m512i splat(int v) { return _mm512_set1_epi32(v); }
inline __m512i load(const void* p) { return _mm512_loadu_si512(p); }
inline __m512i powers(__m512i e) { return _mm512_slli_epi32(_mm512_add_epi32(e, splat(127)), 23); }
inline __m512 power(int e) { return _mm512_set1_ps(__builtin_bit_cast(float, (e + 127) << 23)); }
inline __m512 as_floats(__m512i v) { return _mm512_castsi512_ps(v); }
inline __m512i magnitude_of(__m512i v) { return _mm512_and_si512(v, splat(0x7FFFFFFF)); }
inline int larger(int a, int b) { return a < b ? b : a; }

/// A block is 32 columns.
constexpr unsigned kBlockTiles = 2, kBlockColumns = 16 * kBlockTiles, kPartRows = kTileRows / kBlockTiles / kColumnParts;

/// What the exponents of the scales of one side come to.
struct Scales {
  alignas(64) float up[kByteMaxRows], down[kByteMaxRows];  // powers of two
};

/// D row by row, in blocks.
template <bool kSplit, bool kScaled>
class Product {
 public:
  Product(const ByteProduct& x, uint32_t* left)
      : x_(x), left_(left), down_(x.row_count / kTileRows), across_(x.columns / kBlockColumns), unit_(x.rows.unit + x.lanes.unit), c_(x.c == nullptr ? kNoC : x.c),
        c_stride_(x.c == nullptr ? 0 : x.c_stride) {
    find(x.rows, x.row_count, row_scales_);
    if (kScaled) find(x.lanes, x.columns, lane_scales_);
  }
  unsigned blocks() const { return down_ * across_; }

  void begin(unsigned block) {
    into_ ^= 1;
    lane_tile_ = column_of(block) / 16;
    if (lane_tile_ != 0) return;
    const unsigned tile = tile_of(block), next = tile + 1 < down_ ? tile + 1 : 0;
    load_tile<4>(x_.rows.tiles[kHigh][tile]);
    if (kSplit) load_tile<3>(x_.rows.tiles[kValues][tile]);
    if (kSplit) load_tile<5>(x_.rows.tiles[kLow][tile]);
    if (kSplit) load_tile<6>(x_.rows.tiles[kBottoms][tile]);
    for (unsigned p = kSplit ? kValues : kHigh; p < (kSplit ? kBytePlanes : kLow); ++p) prefetch_tile(x_.rows.tiles[p][next]);
  }
  template <int kColumn>
  void column(auto between) {
    const unsigned lane = lane_tile_ + kColumn;
    zero_tile<0>();
    load_tile<7>(x_.lanes.tiles[kHigh][lane]);
    multiply_tiles<0, 4, 7>();
    between(0);
    if (kSplit) {
      zero_tile<1>();
      multiply_tiles<1, 5, 7>();
    }
    between(1);
    if (kSplit) {
      load_tile<7>(x_.lanes.tiles[kLow][lane]);
      multiply_tiles<1, 3, 7>();
    }
    between(2);
    if (kSplit) {
      zero_tile<2>();
      load_tile<7>(x_.lanes.tiles[kBottoms][lane]);
      multiply_tiles<2, 6, 7>();
    }
    between(3);
  }
  template <int kColumn>
  void store() {
    Sums& sums = sums_[into_];
    store_tile<0>(sums.high[kColumn]);
    if (kSplit) store_tile<1>(sums.rest[kColumn]);
    if (kSplit) store_tile<2>(sums.bottoms[kColumn]);
  }

  /// Two rows of the block before the one last begun.
  void finish(unsigned block, unsigned part) {
    const unsigned m = tile_of(block) * kTileRows, n = column_of(block);
    const Terms terms(*this, n);
    for (unsigned r = kPartRows * part; r < kPartRows * (part + 1); ++r) row(terms, m + r, r, n);
  }

  /// Elements that finish() did not write.
  void end(unsigned block) const {
    const __m512i open = load(open_);
    const unsigned m = tile_of(block) * kTileRows, n = column_of(block);
    for (uint32_t vectors = _mm512_test_epi16_mask(open, open); vectors != 0; vectors &= vectors - 1) {
      const auto v = static_cast<unsigned>(__builtin_ctz(vectors)), r = v / kBlockTiles, i = v % kBlockTiles;
      cut_products(x_, m + r, n + 16 * i, open_[r][i]);
    }
  }

 private:
  struct Sums {
    alignas(64) float high[kBlockTiles][kTileFloats];
    alignas(64) float rest[kSplit ? kBlockTiles : 1][kTileFloats];
    alignas(64) float bottoms[kSplit ? kBlockTiles : 1][kTileFloats];
  };
  static constexpr uint32_t kNoC[kByteMaxRows] = {};

  // A tile of rows stays in the unit for all of its columns.
  unsigned tile_of(unsigned block) const { return block / across_; }
  unsigned column_of(unsigned block) const { return block % across_ * kBlockColumns; }

  /// What elements have in common. |C| is counted in `quanta` of the largest product that is possible, the scales taken off:
  /// no quantum is below that.
  struct Terms {
    Terms(const Product& p, unsigned n) {
      const ByteProduct& x = p.x_;
      const int quantum = x.top - x.window;
      up = power(p.unit_);
      quanta = power(-quantum - p.unit_);
      limit = splat((x.bottom + x.window + 1 - quantum + 127) << 23);
      top = splat(larger(larger(x.top, x.bottom + x.window), 1) - quantum + 127);
      bound = splat(127 + kBottomStep * (1 + 127 + x.window - quantum));
      for (unsigned i = 0; kScaled && i < kBlockTiles; ++i) {
        lane_up[i] = _mm512_mul_ps(up, _mm512_load_ps(p.lane_scales_.up + n + 16 * i));
        lane_quanta[i] = _mm512_mul_ps(quanta, _mm512_load_ps(p.lane_scales_.down + n + 16 * i));
      }
    }
    __m512 quanta, up, lane_quanta[kBlockTiles], lane_up[kBlockTiles];
    __m512i limit, top, bound;
  };
  /// Those of sixteen of a row.
  struct Vector {
    Vector(const Product& p, const Terms& t, unsigned m, unsigned i) : quanta(t.quanta), up(t.up) {
      if (!kScaled) return;
      quanta = _mm512_mul_ps(t.lane_quanta[i], _mm512_set1_ps(p.row_scales_.down[m]));
      up = _mm512_mul_ps(t.lane_up[i], _mm512_set1_ps(p.row_scales_.up[m]));
    }
    __m512 quanta, up;
  };

  static void find(const ByteOperand& x, unsigned count, Scales& out) {
    for (unsigned r = 0; r < count; r += 16) {
      const __m512i e = load(x.exponents + r);
      _mm512_store_si512(out.up + r, powers(e));
      _mm512_store_si512(out.down + r, powers(_mm512_sub_epi32(_mm512_setzero_si512(), e)));
    }
  }

  const uint32_t* c(unsigned m, unsigned n) const { return c_ + m * c_stride_ + n; }
  uint32_t* d(unsigned m, unsigned n) const { return x_.d + m * x_.d_stride + n; }

  /// 32 columns of row r of the block: all of them or, with C that is huge, none.
  void row(const Terms& terms, unsigned m, unsigned r, unsigned n) {
    const uint32_t* from = c(m, n);
    const __m512i first = load(from), second = load(from + 16);
    open_[r][0] = open_[r][1] = 0;
    if (_mm512_cmpge_epu32_mask(_mm512_max_epu32(magnitude_of(first), magnitude_of(second)), splat(kHuge)) != 0) {
      left_[m] |= 1u << n / 32;
      return;
    }
    open_[r][0] = write_certain(Vector(*this, terms, m, 0), terms, first, r, m, n, 0);
    open_[r][1] = write_certain(Vector(*this, terms, m, 1), terms, second, r, m, n, 1);
  }

  /// Sixteen columns; returns lanes that are not written. |C| in quanta is rounded up, so that nothing but 0 becomes 0.
  uint16_t write_certain(const Vector& v, const Terms& t, __m512i c, unsigned r, unsigned m, unsigned n, unsigned i) const {
    const Sums& sums = sums_[into_ ^ 1];
    const __m512 units = _mm512_mul_round_ps(as_floats(magnitude_of(c)), v.quanta, kUp);
    __mmask16 ok = _mm512_cmp_ps_mask(_mm512_roundscale_ps(units, kTowardZero), units, _CMP_EQ_OQ);
    __m512 sum = _mm512_load_ps(sums.high[i] + 16 * r);
    if (kSplit) {
      ok = cuts_nothing(t, ok, units, load(sums.bottoms[i] + 16 * r));
      // Upward, so that opposite sums give +0.
      const __m512 rest = _mm512_load_ps(sums.rest[i] + 16 * r), least = _mm512_add_round_ps(sum, rest, kDown);
      sum = _mm512_add_round_ps(sum, rest, kUp);
      ok = _mm512_mask_cmp_ps_mask(ok, sum, least, _CMP_EQ_OQ);
    } else {
      ok = _mm512_mask_cmplt_epi32_mask(ok, _mm512_castps_si512(units), t.limit);
    }
    _mm512_mask_storeu_ps(d(m, n + 16 * i), ok, _mm512_fmadd_round_ps(sum, v.up, as_floats(c), kTowardZero));
    return static_cast<uint16_t>(~ok);
  }

  /// Lanes of `ok` whose products are multiples of the quantum.
  static __mmask16 cuts_nothing(const Terms& t, __mmask16 ok, __m512 units, __m512i bottoms) {
    const __m512i top = _mm512_max_epi32(t.top, _mm512_srli_epi32(_mm512_castps_si512(units), 23)), field = _mm512_srli_epi32(bottoms, 23);
    return _mm512_mask_cmplt_epi32_mask(ok, _mm512_add_epi32(field, _mm512_madd_epi16(top, splat(kBottomStep))), t.bound);
  }

  const ByteProduct& x_;
  uint32_t* left_;
  const unsigned down_, across_;
  const int unit_;
  const uint32_t* c_;
  const size_t c_stride_;
  Scales row_scales_, lane_scales_;
  unsigned lane_tile_ = 0, into_ = 0;
  alignas(64) uint16_t open_[kTileRows][kBlockTiles];
  Sums sums_[2];
};

template <bool kSplit, bool kScaled>
void multiply_all(const ByteProduct& x, uint32_t* left) {
  Product<kSplit, kScaled> product(x, left);
  pipeline<kBlockTiles>(product.blocks(), product, [&](unsigned block, unsigned part) __attribute__((always_inline)) { product.finish(block, part); });
}

}  // namespace

void multiply_bytes(const ByteProduct& x, uint32_t* left) {
  for (unsigned m = 0; m < x.row_count; ++m) left[m] = 0;
  if (x.split) return x.scaled ? multiply_all<true, true>(x, left) : multiply_all<true, false>(x, left);
  x.scaled ? multiply_all<false, true>(x, left) : multiply_all<false, false>(x, left);
}

}  // namespace drywell::numeric
#endif
