#include "sim/numeric/amx/unit.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace drywell::numeric {
namespace {

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// A compiler barrier: the tile intrinsics are not declared to read memory.
inline void finish_stores() { __asm__ volatile("" ::
                                                   : "memory"); }

/// One step of the 16 x 16 transposition: interleaves the words of each pair of rows.
inline void unpack_words(const __m512i (&in)[16], __m512i (&out)[16]) {
  for (int i = 0; i < 16; i += 2) {
    out[i] = _mm512_unpacklo_epi32(in[i], in[i + 1]);
    out[i + 1] = _mm512_unpackhi_epi32(in[i], in[i + 1]);
  }
}

template <bool kRowsSigned, bool kLanesSigned, int kTile, int kLanes>
inline void dot() {
  if constexpr (kRowsSigned && kLanesSigned) __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kTile), "i"(4), "i"(kLanes));
  if constexpr (kRowsSigned && !kLanesSigned) __asm__ volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kTile), "i"(4), "i"(kLanes));
  if constexpr (!kRowsSigned && kLanesSigned) __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kTile), "i"(4), "i"(kLanes));
  if constexpr (!kRowsSigned && !kLanesSigned) __asm__ volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kTile), "i"(4), "i"(kLanes));
}

template <bool kRowsSigned, bool kLanesSigned>
void dots(const ByteTiles& x) {
  finish_stores();
  _tile_loadd(4, x.rows, 64);
  for (unsigned t = 0; t < x.column_tiles; t += 2) {
    const uint8_t* lanes = x.lanes + size_t{t} * kTileBytes;
    if (x.c == nullptr) {
      _tile_zero(0);
      _tile_zero(1);
    } else {
      _tile_loadd(0, x.c + 16 * t, x.c_stride);
      _tile_loadd(1, x.c + 16 * t + 16, x.c_stride);
    }
    _tile_loadd(5, lanes, 64);
    dot<kRowsSigned, kLanesSigned, 0, 5>();
    _tile_loadd(6, lanes + kTileBytes, 64);
    dot<kRowsSigned, kLanesSigned, 1, 6>();
    _tile_stored(0, x.d + 16 * t, x.d_stride);
    _tile_stored(1, x.d + 16 * t + 16, x.d_stride);
  }
}

}  // namespace

TileUnit::TileUnit() {
  const TileConfig config;
  finish_stores();
  __asm__ volatile("ldtilecfg %0" ::"m"(config));
}
TileUnit::~TileUnit() { _tile_release(); }

void tile_dots(const ByteTiles& x) {
  if (x.rows_signed) return x.lanes_signed ? dots<true, true>(x) : dots<true, false>(x);
  x.lanes_signed ? dots<false, true>(x) : dots<false, false>(x);
}

void turn_tile(uint8_t* tile) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(tile + 64 * i);
  unpack_words(a, b);
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  // a[4 g + j]: lane l holds word 4 l + j of rows 4 g .. 4 g + 3.
  for (int j = 0; j < 4; ++j) {
    b[j] = _mm512_shuffle_i32x4(a[j], a[4 + j], 0x88);      // lanes 0, 2 of groups 0, 1
    b[4 + j] = _mm512_shuffle_i32x4(a[j], a[4 + j], 0xDD);  // lanes 1, 3
    b[8 + j] = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0x88);
    b[12 + j] = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0xDD);
  }
  for (int j = 0; j < 4; ++j) {
    _mm512_storeu_si512(tile + 64 * j, _mm512_shuffle_i32x4(b[j], b[8 + j], 0x88));
    _mm512_storeu_si512(tile + 64 * (4 + j), _mm512_shuffle_i32x4(b[4 + j], b[12 + j], 0x88));
    _mm512_storeu_si512(tile + 64 * (8 + j), _mm512_shuffle_i32x4(b[j], b[8 + j], 0xDD));
    _mm512_storeu_si512(tile + 64 * (12 + j), _mm512_shuffle_i32x4(b[4 + j], b[12 + j], 0xDD));
  }
}

}  // namespace drywell::numeric
#endif
