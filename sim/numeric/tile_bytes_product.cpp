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

/// Powers of two of the scales' exponents.
struct Scales {
  alignas(64) float up[kByteMaxRows], down[kByteMaxRows];

  void find(const ByteOperand& x, unsigned count) {
    for (unsigned r = 0; r < count; r += 16) {
      const __m512i e = load(x.exponents + r);
      _mm512_store_si512(up + r, powers(e));
      _mm512_store_si512(down + r, powers(_mm512_sub_epi32(_mm512_setzero_si512(), e)));
    }
  }
};

/// D row by row, in blocks.
template <bool kSplit, bool kScaled>
class Product {
 public:
  Product(const ByteProduct& x, uint32_t* left)
      : x_(x), left_(left), across_(x.columns / kBlockColumns), unit_(x.rows.unit + x.lanes.unit), c_(x.c == nullptr ? kNoC : x.c),
        c_stride_(x.c == nullptr ? 0 : x.c_stride) {
    if (!kScaled) return;
    row_scales_.find(x.rows, x.row_count);
    lane_scales_.find(x.lanes, x.columns);
  }
  unsigned blocks() const { return x_.row_count / kTileRows * across_; }

  void begin(unsigned block) {
    const unsigned tile = block / across_;
    load_tile<3>(x_.rows.tiles[kValues][tile]);
    if (kSplit) load_tile<4>(x_.rows.tiles[kHigh][tile]);
    if (kSplit) load_tile<5>(x_.rows.tiles[kLow][tile]);
    row_bottoms_ = x_.rows.tiles[kBottoms][tile];
    lane_tile_ = block % across_ * kBlockTiles;
    into_ ^= 1;
  }
  template <int kColumn>
  void column() {
    const unsigned lane = lane_tile_ + kColumn;
    zero_tile<0>();
    if (!kSplit) {
      load_tile<6>(x_.lanes.tiles[kValues][lane]);
      return multiply_tiles<0, 3, 6>();
    }
    load_tile<6>(x_.lanes.tiles[kHigh][lane]);
    multiply_tiles<0, 4, 6>();
    zero_tile<1>();
    load_tile<7>(x_.lanes.tiles[kLow][lane]);
    multiply_tiles<1, 3, 7>();
    zero_tile<2>();
    multiply_tiles<1, 5, 6>();
    load_tile<6>(row_bottoms_);
    load_tile<7>(x_.lanes.tiles[kBottoms][lane]);
    multiply_tiles<2, 6, 7>();
  }
  template <int kColumn>
  void store() {
    Sums& sums = sums_[into_];
    store_tile<0>(sums.high[kColumn]);
    if (kSplit) store_tile<1>(sums.rest[kColumn]);
    if (kSplit) store_tile<2>(sums.bottoms[kColumn]);
  }

  /// Four rows of the block before the one last begun.
  void finish(unsigned block, unsigned quarter) {
    const unsigned tile = block / across_ * kTileRows, n = block % across_ * kBlockColumns;
    for (unsigned r = 4 * quarter; r < 4 * quarter + 4; ++r) row(tile + r, r, n);
  }

  /// Elements that finish() did not write.
  void end(unsigned block) {
    if (open_any_ == 0) return;
    open_any_ = 0;
    const unsigned m = block / across_ * kTileRows, n = block % across_ * kBlockColumns;
    for (unsigned r = 0; r < kTileRows; ++r)
      for (unsigned i = 0; i < kBlockTiles; ++i)
        if (open_[r][i] != 0) cut(m + r, n + 16 * i, open_[r][i]);
  }

 private:
  struct Sums {
    alignas(64) float high[kBlockTiles][kTileFloats];
    alignas(64) float rest[kSplit ? kBlockTiles : 1][kTileFloats];
    alignas(64) float bottoms[kSplit ? kBlockTiles : 1][kTileFloats];
  };
  static constexpr uint32_t kNoC[kByteMaxRows] = {};

  /// What elements of a row have in common; exponents are in units, and those of C without the scales'.
  struct RowTerms {
    RowTerms(const Product& p, unsigned m) {
      const ByteProduct& x = p.x_;
      const int scale = kScaled ? x.rows.exponents[m] + p.unit_ : p.unit_;
      exponent = splat(scale);
      quanta = power(x.window - x.top - scale);
      up = power(scale);
      limit = splat((x.bottom + x.window + 1 + 127 + scale) << 23);
      // No quantum is below that of the largest possible product. 127: of the exponent field of C.
      const int least_top = larger(larger(x.top, x.bottom + x.window), 1) + 127 + (kScaled ? 0 : scale);
      top = splat(least_top);
      bound = splat(127 + kBottomStep * (1 + 127 + x.window + (kScaled ? 0 : scale)));
    }
    __m512 quanta, up;
    __m512i exponent, limit, top, bound;
  };

  const uint32_t* c(unsigned m, unsigned n) const { return c_ + m * c_stride_ + n; }
  uint32_t* d(unsigned m, unsigned n) const { return x_.d + m * x_.d_stride + n; }

  /// 64 columns of row r of the block.
  void row(unsigned m, unsigned r, unsigned n) {
    const uint32_t* from = c(m, n);
    __m512i addends[kBlockTiles], greatest = _mm512_setzero_si512();
    for (unsigned i = 0; i < kBlockTiles; ++i) {
      addends[i] = load(from + 16 * i);
      greatest = _mm512_max_epu32(greatest, magnitude_of(addends[i]));
    }
    unsigned leave = 0;
    if (_mm512_cmpge_epu32_mask(greatest, splat(kHuge)) != 0) {
      for (unsigned i = 0; i < kBlockTiles; ++i)
        if (_mm512_cmpge_epu32_mask(magnitude_of(addends[i]), splat(kHuge)) != 0) leave |= 3u << (i & 2);
      left_[m] |= ((leave & 1) | (leave >> 1 & 2)) << n / 32;
    }
    const RowTerms t(*this, m);
    for (unsigned i = 0; i < kBlockTiles; ++i) {
      const auto wanted = static_cast<__mmask16>((leave >> i & 1) != 0 ? 0 : 0xFFFF);
      open_[r][i] = write_certain(t, addends[i], wanted, r, m, n, i);
      open_any_ |= open_[r][i];
    }
  }

  /// Sixteen columns; returns lanes wanted that are not written. |C| in quanta is rounded up, so that nothing but 0 becomes 0.
  uint16_t write_certain(const RowTerms& t, __m512i c, __mmask16 wanted, unsigned r, unsigned m, unsigned n, unsigned i) const {
    const Sums& sums = sums_[into_ ^ 1];
    const unsigned at = n + 16 * i;
    const __m512i magnitude = magnitude_of(c);
    const __m512 quanta = kScaled ? _mm512_mul_ps(t.quanta, _mm512_load_ps(lane_scales_.down + at)) : t.quanta;
    const __m512 units = _mm512_mul_round_ps(as_floats(magnitude), quanta, kUp);
    __mmask16 ok = _mm512_mask_cmp_ps_mask(wanted, _mm512_roundscale_ps(units, kTowardZero), units, _CMP_EQ_OQ);
    __m512 sum = _mm512_load_ps(sums.high[i] + 16 * r);
    if (kSplit) {
      ok = cuts_nothing(t, ok, magnitude, load(sums.bottoms[i] + 16 * r), at);
      // Upward, so that opposite sums give +0.
      const __m512 rest = _mm512_load_ps(sums.rest[i] + 16 * r), least = _mm512_add_round_ps(sum, rest, kDown);
      sum = _mm512_add_round_ps(sum, rest, kUp);
      ok = _mm512_mask_cmp_ps_mask(ok, sum, least, _CMP_EQ_OQ);
    } else {
      const __m512i limit = kScaled ? _mm512_add_epi32(t.limit, _mm512_slli_epi32(load(x_.lanes.exponents + at), 23)) : t.limit;
      ok = _mm512_mask_cmplt_epi32_mask(ok, magnitude, limit);
    }
    const __m512 scale = kScaled ? _mm512_mul_ps(t.up, _mm512_load_ps(lane_scales_.up + at)) : t.up;
    _mm512_mask_storeu_ps(d(m, at), ok, _mm512_fmadd_round_ps(sum, scale, as_floats(c), kTowardZero));
    return static_cast<uint16_t>(wanted & ~ok);
  }

  /// Lanes of `ok` whose products are multiples of the quantum.
  __mmask16 cuts_nothing(const RowTerms& t, __mmask16 ok, __m512i magnitude, __m512i bottoms, unsigned at) const {
    __m512i c_top = _mm512_srli_epi32(magnitude, 23);
    if (kScaled) c_top = _mm512_sub_epi32(c_top, _mm512_add_epi32(t.exponent, load(x_.lanes.exponents + at)));
    const __m512i top = _mm512_max_epi32(t.top, c_top), field = _mm512_srli_epi32(bottoms, 23);
    return _mm512_mask_cmplt_epi32_mask(ok, _mm512_add_epi32(field, _mm512_madd_epi16(top, splat(kBottomStep))), t.bound);
  }

  void cut(unsigned m, unsigned n, uint16_t lanes) const {
    cut_products({x_.rows.tiles[kValues][m / kTileRows] + 64 * (m % kTileRows), x_.lanes.rows[n / 16], x_.lanes.tiles[kValues][n / 16],
                  x_.rows.floor, x_.lanes.floor, lanes, x_.rows.exponents[m] + unit_, x_.lanes.exponents + n, c(m, n), x_.window, d(m, n)});
  }

  const ByteProduct& x_;
  uint32_t* left_;
  const unsigned across_;
  const int unit_;
  const uint32_t* c_;
  const size_t c_stride_;
  Scales row_scales_, lane_scales_;
  const uint8_t* row_bottoms_ = nullptr;
  unsigned lane_tile_ = 0, into_ = 0, open_any_ = 0;
  uint16_t open_[kTileRows][kBlockTiles];
  Sums sums_[2];
};

template <bool kSplit, bool kScaled>
void multiply_all(const ByteProduct& x, uint32_t* left) {
  Product<kSplit, kScaled> product(x, left);
  pipeline(product.blocks(), product, [&](unsigned block, unsigned quarter) __attribute__((always_inline)) { product.finish(block, quarter); });
}

}  // namespace

void multiply_bytes(const ByteProduct& x, uint32_t* left) {
  for (unsigned m = 0; m < x.row_count; ++m) left[m] = 0;
  if (x.split) return x.scaled ? multiply_all<true, true>(x, left) : multiply_all<true, false>(x, left);
  x.scaled ? multiply_all<false, true>(x, left) : multiply_all<false, false>(x, left);
}

}  // namespace drywell::numeric
#endif
