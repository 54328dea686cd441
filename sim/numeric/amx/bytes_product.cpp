#include "sim/numeric/amx/bytes.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

#include "sim/numeric/amx/steps-inl.h"

namespace drywell::numeric {
namespace {

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC,
              kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
/// Bits of the least |C| (also infinity, NaN) that these kernels leave to others.
constexpr uint32_t kHuge = (100u + 127) << 23;

inline __m512i splat(int v) { return _mm512_set1_epi32(v); }
inline __m512i load(const void* p) { return _mm512_loadu_si512(p); }
inline __m512i powers(__m512i e) { return _mm512_slli_epi32(_mm512_add_epi32(e, splat(127)), 23); }
inline __m512 as_floats(__m512i v) { return _mm512_castsi512_ps(v); }
inline __m512i magnitude_of(__m512i v) { return _mm512_and_si512(v, splat(0x7FFFFFFF)); }
inline int larger(int a, int b) { return a < b ? b : a; }

/// A block has 32 columns.
constexpr unsigned kBlockTiles = 2, kBlockColumns = 16 * kBlockTiles, kPartRows = kTileRows / kBlockTiles / kColumnParts;

/// Factors of one side, powers of two. A sum times `of_sums` of both sides is added to C. |C| times `of_c` of both sides is |C|
/// in units of the smallest possible quantum, that of the largest possible product without scales.
struct Factors {
  void assign(const ByteOperand& x, unsigned count, int unit, int quantum) {
    for (unsigned r = 0; r < count; r += 16) {
      const __m512i exponents = _mm512_add_epi32(load(x.exponents + r), splat(unit));
      _mm512_store_si512(of_sums + r, powers(exponents));
      _mm512_store_si512(of_c + r, powers(_mm512_sub_epi32(splat(-quantum), exponents)));
    }
  }
  alignas(64) float of_sums[kByteMaxRows], of_c[kByteMaxRows];
};

/// Computes D row by row, in blocks.
template <bool kSplit, bool kScaled>
class Product {
 public:
  Product(const ByteProduct& x, uint32_t* left)
      : x_(x), left_(left), down_(x.row_count / kTileRows), across_(x.columns / kBlockColumns), c_(x.c == nullptr ? kNoC : x.c), c_stride_(x.c == nullptr ? 0 : x.c_stride) {
    const int quantum = x.top - x.window;
    rows_.assign(x.rows, x.row_count, 0, 0);
    lanes_.assign(x.lanes, x.columns, x.rows.unit + x.lanes.unit, quantum);
    limit_ = splat((x.bottom + x.window + 1 - quantum + 127) << 23);
    top_ = splat(larger(larger(x.top, x.bottom + x.window), 1) - quantum + 127);
    bound_ = splat(127 + kBottomStep * (1 + 127 + x.window - quantum));
  }
  unsigned blocks() const { return down_ * across_; }

  void begin(unsigned block) {
    into_ ^= 1;
    before_ = now_;
    now_ = {block / across_ * kTileRows, block % across_ * kBlockColumns};
    if (now_.column != 0) return;
    const unsigned tile = now_.row / kTileRows, next = tile + 1 < down_ ? tile + 1 : 0;
    load_tile<4>(x_.rows.tiles[kHigh][tile]);
    if (kSplit) load_tile<3>(x_.rows.tiles[kValues][tile]);
    if (kSplit) load_tile<5>(x_.rows.tiles[kLow][tile]);
    if (kSplit) load_tile<6>(x_.rows.tiles[kBottoms][tile]);
    for (unsigned p = kSplit ? kValues : kHigh; p < (kSplit ? kBytePlanes : kLow); ++p) prefetch_tile(x_.rows.tiles[p][next]);
  }
  template <int kColumn>
  void column(auto between) {
    const unsigned lane = now_.column / 16 + kColumn;
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

  /// Finishes kPartRows rows of the previous block.
  void finish(unsigned part) {
    for (unsigned r = kPartRows * part; r < kPartRows * (part + 1); ++r) row(before_.row + r, r);
  }

  /// Computes the elements that finish() did not write.
  void end() const {
    const __m512i open = load(open_);
    for (uint32_t vectors = _mm512_test_epi16_mask(open, open); vectors != 0; vectors &= vectors - 1) {
      const auto v = static_cast<unsigned>(__builtin_ctz(vectors)), r = v / kBlockTiles, i = v % kBlockTiles;
      cut_products(x_, before_.row + r, before_.column + 16 * i, open_[r][i]);
    }
  }

 private:
  struct Sums {
    alignas(64) float high[kBlockTiles][kTileFloats];
    alignas(64) float rest[kSplit ? kBlockTiles : 1][kTileFloats];
    alignas(64) float bottoms[kSplit ? kBlockTiles : 1][kTileFloats];
  };
  static constexpr uint32_t kNoC[kByteMaxRows] = {};

  /// First element of a block. A tile of rows stays in the unit for all of its columns.
  struct Place {
    unsigned row, column;
  };

  const uint32_t* c(unsigned m, unsigned n) const { return c_ + m * c_stride_ + n; }
  uint32_t* d(unsigned m, unsigned n) const { return x_.d + m * x_.d_stride + n; }

  /// Finishes 32 columns of row m, row r of the block: all of them, or none if |C| is kHuge or more.
  void row(unsigned m, unsigned r) {
    const uint32_t* from = c(m, before_.column);
    const __m512i first = load(from), second = load(from + 16);
    open_[r][0] = open_[r][1] = 0;
    if (_mm512_cmpge_epu32_mask(_mm512_max_epu32(magnitude_of(first), magnitude_of(second)), splat(kHuge)) != 0) {
      left_[m] |= 1u << before_.column / 32;
      return;
    }
    open_[r][0] = write_certain(first, m, r, 0);
    open_[r][1] = write_certain(second, m, r, 1);
  }

  /// Writes sixteen columns; returns the lanes that are not written. |C| in quanta is rounded up, so that only 0 becomes 0.
  uint16_t write_certain(__m512i c, unsigned m, unsigned r, unsigned i) const {
    const Sums& sums = sums_[into_ ^ 1];
    const unsigned n = before_.column + 16 * i;
    const __m512 units = _mm512_mul_round_ps(as_floats(magnitude_of(c)), factor(lanes_.of_c + n, rows_.of_c + m), kUp);
    __mmask16 ok = _mm512_cmp_ps_mask(_mm512_roundscale_ps(units, kTowardZero), units, _CMP_EQ_OQ);
    __m512 sum = _mm512_load_ps(sums.high[i] + 16 * r);
    if (kSplit) {
      ok = cuts_nothing(ok, units, load(sums.bottoms[i] + 16 * r));
      // Rounded upward, so that opposite sums add up to +0.
      const __m512 rest = _mm512_load_ps(sums.rest[i] + 16 * r), least = _mm512_add_round_ps(sum, rest, kDown);
      sum = _mm512_add_round_ps(sum, rest, kUp);
      ok = _mm512_mask_cmp_ps_mask(ok, sum, least, _CMP_EQ_OQ);
    } else {
      ok = _mm512_mask_cmplt_epi32_mask(ok, _mm512_castps_si512(units), limit_);
    }
    _mm512_mask_storeu_ps(d(m, n), ok, _mm512_fmadd_round_ps(sum, factor(lanes_.of_sums + n, rows_.of_sums + m), as_floats(c), kTowardZero));
    return static_cast<uint16_t>(~ok);
  }

  static __m512 factor(const float* lanes, const float* row) {
    const __m512 lane = _mm512_load_ps(lanes);
    return kScaled ? _mm512_mul_ps(lane, _mm512_set1_ps(*row)) : lane;
  }

  /// Lanes of `ok` whose products are multiples of the quantum.
  __mmask16 cuts_nothing(__mmask16 ok, __m512 units, __m512i bottoms) const {
    const __m512i top = _mm512_max_epi32(top_, _mm512_srli_epi32(_mm512_castps_si512(units), 23)), field = _mm512_srli_epi32(bottoms, 23);
    return _mm512_mask_cmplt_epi32_mask(ok, _mm512_add_epi32(field, _mm512_madd_epi16(top, splat(kBottomStep))), bound_);
  }

  const ByteProduct& x_;
  uint32_t* left_;
  const unsigned down_, across_;
  const uint32_t* c_;
  const size_t c_stride_;
  __m512i limit_, top_, bound_;
  Factors rows_, lanes_;
  Place now_ = {}, before_ = {};
  unsigned into_ = 0;
  alignas(64) uint16_t open_[kTileRows][kBlockTiles];
  Sums sums_[2];
};

template <bool kSplit, bool kScaled>
void multiply_all(const ByteProduct& x, uint32_t* left) {
  Product<kSplit, kScaled> product(x, left);
  pipeline<kBlockTiles>(
      product.blocks(), product, [&](unsigned part) __attribute__((always_inline)) { product.finish(part); });
}

}  // namespace

void multiply_bytes(const ByteProduct& x, uint32_t* left) {
  for (unsigned m = 0; m < x.row_count; ++m) left[m] = 0;
  if (x.split) return x.scaled ? multiply_all<true, true>(x, left) : multiply_all<true, false>(x, left);
  x.scaled ? multiply_all<false, true>(x, left) : multiply_all<false, false>(x, left);
}

}  // namespace drywell::numeric
#endif
