#include "sim/numeric/amx/scaled.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

#include "sim/numeric/amx/scaled_rows-inl.h"
#include "sim/numeric/amx/steps-inl.h"

namespace drywell::numeric {
namespace {

/// A pair is two tiles of rows: each tile of lanes is loaded once for both. A block of a pair has two tiles of lanes.
constexpr unsigned kPairTiles = 2, kPairRows = kPairTiles * kTileRows, kBlockTiles = 2;

constexpr int kTowardZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;

/// Conditions for sound elements, by row of a tile.
struct ScaledLimits {
  alignas(64) uint32_t greatest[kTileRows];  // greatest |C| with which no group is truncated, as bits of a float
  alignas(64) float quanta[kTileRows];       // 1 / quantum; C must be a multiple of the quantum
  uint32_t sound_rows;                       // a bit for each row in which no group is truncated
  uint32_t lane_tiles;                       // a bit for each tile of lanes: products are exact
  // For all rows:
  uint32_t tile_greatest;
  float tile_quanta;

  void assign(const ScaledProduct& x, const TileBounds& rows) {
    lane_tiles = exact_lanes(x, rows.span);
    const __m512i top = _mm512_add_epi32(rows.tops, splat(x.lane_range.greatest_top));
    const __m512i bottom = _mm512_add_epi32(rows.lowest, splat(x.lane_range.least_lowest));
    const __m512i quantum = _mm512_sub_epi32(top, splat(x.window)), depth = _mm512_sub_epi32(bottom, splat(x.group_depth));
    const __m512i largest = _mm512_min_epi32(_mm512_add_epi32(depth, splat(x.window)), splat(126));
    const __mmask16 whole = _mm512_cmple_epi32_mask(quantum, depth) & _mm512_cmpge_epi32_mask(largest, splat(-126));
    const __m512i bits = _mm512_sub_epi32(_mm512_slli_epi32(_mm512_add_epi32(largest, splat(128)), 23), splat(1));
    // Exponents beyond these belong to rows whose scales are all zero: nothing is truncated.
    const __mmask16 any = _mm512_cmplt_epi32_mask(_mm512_abs_epi32(quantum), splat(126));
    const __m512i inverse = _mm512_maskz_slli_epi32(any, _mm512_sub_epi32(splat(127), quantum), 23);
    _mm512_store_si512(greatest, bits);
    _mm512_store_si512(quanta, inverse);
    sound_rows = whole;
    tile_greatest = _mm512_reduce_min_epu32(bits);
    tile_quanta = _mm512_reduce_min_ps(_mm512_castsi512_ps(inverse));
  }

 private:
  /// The product of two rows' lengths bounds every partial sum of their products (Cauchy-Schwarz).
  static uint32_t exact_lanes(const ScaledProduct& x, float span) {
    constexpr float kExact = 0x1p48f * 0.999f;
    const __m512 lengths = _mm512_mul_round_ps(_mm512_loadu_ps(x.lane_spans), _mm512_set1_ps(span), kUp);
    return _mm512_cmp_ps_mask(lengths, _mm512_set1_ps(kExact), _CMP_LT_OQ);
  }
};

/// The product in steps of one tile of lanes by a pair. While the tile unit computes a step, vector code checks that step's C,
/// finishes the previous block and decodes rows of the next pair. The C of a whole block is checked with the limits of its
/// tiles and the processor's inexact flag; if that fails, each row is checked on its own.
template <bool kWithC>
class Scaled {
 public:
  Scaled(const ScaledProduct& x, uint32_t* left)
      : x_(x), left_(left), decoder_(x.rows), lane_plane_(size_t{x.columns} / kTileRows * kTileBytes), steps_(x.columns / kTileRows) {}

  void run() {
    pairs_ = (x_.rows.rows + kPairRows - 1) / kPairRows;
    for (unsigned piece = 0; piece < kPairPieces; ++piece) decode_piece(0, piece);
    for (unsigned pair = 0; pair < pairs_; ++pair) {
      begin_pair(pair);
      for (unsigned lane = 0; lane < steps_; lane += kBlockTiles) {
        step<0>(lane);
        step<1>(lane + 1);
        decode_ahead(lane + kBlockTiles);
      }
    }
    store_sums<1>(into_);
    choose_sound();
    for (unsigned half = 0; half < 2; ++half) {
      finish<0>(half);
      finish<1>(half);
    }
  }

 private:
  static constexpr unsigned kPairPieces = kPairTiles * RowDecoder::kPieces;

  struct alignas(64) Pair {
    uint8_t tiles[kPairTiles][kScaledPlanes][kTileBytes];
    TileBounds bounds[kPairTiles];
    ScaledLimits limits[kPairTiles];
  };
  struct Block {
    const ScaledLimits* limits;
    unsigned row, lane, tiles;  // tiles of rows: none before the first block
    bool sound[kPairTiles];
  };
  struct alignas(64) Sums {
    float tiles[kPairTiles][kBlockTiles][kTileFloats];
  };

  unsigned tiles_of(unsigned pair) const {
    const unsigned left = (x_.rows.rows - pair * kPairRows) / kTileRows;
    return left < kPairTiles ? left : kPairTiles;
  }

  void decode_piece(unsigned pair, unsigned piece) {
    const unsigned tile = piece / RowDecoder::kPieces, part = piece % RowDecoder::kPieces;
    if (tile >= tiles_of(pair)) return;
    Pair& to = buffers_[pair % 2];
    if (part == 0) decoder_.begin(pair * kPairRows + tile * kTileRows, to.tiles[tile][0], kTileBytes);
    decoder_.piece(part);
    if (part + 1 == RowDecoder::kPieces) to.bounds[tile] = decoder_.bounds();
  }
  /// Decodes the part of the next pair that is due after `steps` steps of this one.
  void decode_ahead(unsigned steps) {
    if (pair_ + 1 == pairs_) return;
    for (; decoded_ * steps_ < steps * kPairPieces; ++decoded_) decode_piece(pair_ + 1, decoded_);
  }

  void begin_pair(unsigned pair) {
    pair_ = pair;
    decoded_ = 0;
    Pair& now = buffers_[pair % 2];
    for (unsigned t = 0; t < tiles_of(pair); ++t) now.limits[t].assign(x_, now.bounds[t]);
    load_tile<2>(now.tiles[0][0]);
    load_tile<3>(now.tiles[0][1]);
    load_tile<4>(now.tiles[1][0]);
    load_tile<5>(now.tiles[1][1]);
  }

  /// Vector code follows each product of tiles: consecutive products that wait for each other would also delay later
  /// instructions.
  template <unsigned kHalf>
  void step(unsigned lane) {
    const uint8_t* lanes = x_.lanes + size_t{lane} * kTileBytes;
    store_sums<kHalf ^ 1>(into_);
    zero_tile<0>();
    zero_tile<1>();
    load_tile<6>(lanes);
    load_tile<7>(lanes + lane_plane_);
    multiply_tiles<0, 2, 6>();
    if (kHalf == 0) {
      choose_sound();
      begin_block(lane);
    }
    if (kWithC) look_at_c(lane, 0);
    multiply_tiles<1, 4, 6>();
    if (kWithC) look_at_c(lane, 1);
    multiply_tiles<0, 3, 7>();
    finish<kHalf>(0);
    multiply_tiles<1, 5, 7>();
    finish<kHalf>(1);
  }

  /// Stores the sums of the previous step. Sums of tiles that do not exist are stored, too, and not used.
  template <unsigned kHalf>
  void store_sums(unsigned into) {
    store_tile<0>(sums_[into].tiles[0][kHalf]);
    store_tile<1>(sums_[into].tiles[1][kHalf]);
  }

  void begin_block(unsigned lane) {
    now_ = {buffers_[pair_ % 2].limits, pair_ * kPairRows, lane, tiles_of(pair_), {}};
    for (__m512i& g : greatest_) g = _mm512_setzero_si512();
  }

  const uint32_t* c(unsigned row, unsigned lane) const { return x_.c + row * x_.c_stride + lane * kTileRows; }
  float* d(unsigned row, unsigned lane) const { return reinterpret_cast<float*>(x_.d) + row * x_.d_stride + lane * kTileRows; }

  /// Checks C of a tile of rows. |C| in quanta is rounded up, so that only 0 becomes 0.
  void look_at_c(unsigned lane, unsigned tile) {
    if (tile >= now_.tiles) return;
    const size_t stride = x_.c_stride;
    const uint32_t* row = c(now_.row + tile * kTileRows, lane);
    const __m512 quanta = _mm512_set1_ps(now_.limits[tile].tile_quanta);
    __m512i greatest = greatest_[tile];
    for (unsigned r = 0; r < kTileRows; ++r, row += stride) {
      const __m512i magnitude = _mm512_and_si512(_mm512_loadu_si512(row), splat(0x7FFFFFFF));
      greatest = _mm512_max_epu32(greatest, magnitude);
      flag_fractions(_mm512_mul_round_ps(_mm512_castsi512_ps(magnitude), quanta, kUp));
    }
    greatest_[tile] = greatest;
  }

  /// Decides which tiles of the block of the last two steps are sound. The block is finished during the next two steps, whose
  /// sums use another buffer.
  void choose_sound() {
    before_ = now_;
    into_ ^= 1;
    const bool whole = !kWithC || !flags_.any();
    for (unsigned t = 0; t < before_.tiles; ++t) {
      const ScaledLimits& limits = before_.limits[t];
      before_.sound[t] = whole && limits.sound_rows == 0xFFFF && (limits.lane_tiles >> before_.lane & 3) == 3 &&
                         _mm512_cmpgt_epu32_mask(greatest_[t], splat(static_cast<int>(limits.tile_greatest))) == 0;
    }
  }

  /// Finishes half a tile of rows of the previous block.
  template <unsigned kTile>
  void finish(unsigned half) {
    if (kTile >= before_.tiles) return;
    const auto& sums = sums_[into_ ^ 1].tiles[kTile];
    const unsigned first = half * kTileRows / 2, m = before_.row + kTile * kTileRows;
    if (before_.sound[kTile]) return sound_rows(m, first, sums);
    const ScaledLimits& limits = before_.limits[kTile];
    for (unsigned r = first; r < first + kTileRows / 2; ++r)
      if (!row(m, r, limits, sums)) left_[m + r] |= 1u << before_.lane / kBlockTiles;
  }

  void sound_rows(unsigned m, unsigned first, const float (&sums)[kBlockTiles][kTileFloats]) const {
    const uint32_t* from = kWithC ? c(m + first, before_.lane) : nullptr;
    float* to = d(m + first, before_.lane);
    const size_t c_stride = x_.c_stride, d_stride = x_.d_stride;
    for (unsigned r = first; r < first + kTileRows / 2; ++r, from += kWithC ? c_stride : 0, to += d_stride) {
      for (unsigned i = 0; i < kBlockTiles; ++i) {
        __m512 sum = _mm512_load_ps(sums[i] + 16 * r);
        if (kWithC) sum = _mm512_add_round_ps(sum, _mm512_loadu_ps(from + 16 * i), kTowardZero);
        _mm512_storeu_ps(to + 16 * i, sum);
      }
    }
  }

  /// Writes 32 columns of row m + r; returns false, without a write, if they are not sound.
  bool row(unsigned m, unsigned r, const ScaledLimits& limits, const float (&sums)[kBlockTiles][kTileFloats]) const {
    if ((limits.sound_rows >> r & 1) == 0 || (limits.lane_tiles >> before_.lane & 3) != 3) return false;
    __m512 result[kBlockTiles];
    __mmask16 unsound = 0;
    for (unsigned i = 0; i < kBlockTiles; ++i) {
      result[i] = _mm512_load_ps(sums[i] + 16 * r);
      if (kWithC) unsound |= add_c(m + r, before_.lane + i, limits.quanta[r], limits.greatest[r], result[i]);
    }
    if (unsound != 0) return false;
    for (unsigned i = 0; i < kBlockTiles; ++i) _mm512_storeu_ps(d(m + r, before_.lane + i), result[i]);
    return true;
  }

  /// Adds C to `sum`; returns the lanes in which the result is not sound.
  __mmask16 add_c(unsigned row, unsigned lane, float quanta, uint32_t greatest, __m512& sum) const {
    const __m512i bits = _mm512_loadu_si512(c(row, lane)), magnitude = _mm512_and_si512(bits, splat(0x7FFFFFFF));
    const __m512 units = _mm512_mul_round_ps(_mm512_castsi512_ps(magnitude), _mm512_set1_ps(quanta), kUp);
    const __m512 whole = _mm512_roundscale_ps(units, kTowardZero);
    sum = _mm512_add_round_ps(sum, _mm512_castsi512_ps(bits), kTowardZero);
    return _mm512_cmp_ps_mask(whole, units, _CMP_NEQ_UQ) | _mm512_cmpgt_epu32_mask(magnitude, splat(static_cast<int>(greatest)));
  }

  const ScaledProduct& x_;
  uint32_t* left_;
  RowDecoder decoder_;
  const size_t lane_plane_;
  const unsigned steps_;  // of a pair
  unsigned pairs_ = 0, pair_ = 0, decoded_ = 0, into_ = 0;
  Block now_ = {}, before_ = {};
  __m512i greatest_[kPairTiles];
  FractionFlags flags_;
  Sums sums_[2];
  Pair buffers_[2];
};

}  // namespace

void multiply_scaled(const ScaledProduct& x, uint32_t* left) {
  for (unsigned m = 0; m < x.rows.rows; ++m) left[m] = 0;
  if (x.c == nullptr) return Scaled<false>(x, left).run();
  Scaled<true>(x, left).run();
}

}  // namespace drywell::numeric
#endif
