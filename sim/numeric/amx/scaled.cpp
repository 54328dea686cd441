#include "sim/numeric/amx/scaled.h"

#if defined(__AMX_BF16__)
#include "sim/numeric/amx/scaled_rows-inl.h"

namespace drywell::numeric {

ScaledRange decode_scaled(const ScaledRows& in, uint8_t* tiles, float* spans) {
  const size_t plane = size_t{in.rows} / kTileRows * kTileBytes;
  RowDecoder decoder(in);
  __m512i greatest_top = splat(ScaleTable::kNone), least_lowest = splat(-1 - ScaleTable::kNone);
  for (unsigned first = 0; first < in.rows; first += kTileRows) {
    uint8_t* tile = tiles + size_t{first} / kTileRows * kTileBytes;
    decoder.begin(first, tile, plane);
    for (unsigned piece = 0; piece < RowDecoder::kPieces; ++piece) decoder.piece(piece);
    const TileBounds known = decoder.bounds();
    greatest_top = _mm512_max_epi32(greatest_top, known.tops);
    least_lowest = _mm512_min_epi32(least_lowest, known.lowest);
    spans[first / kTileRows] = known.span;
    for (unsigned p = 0; p < kScaledPlanes; ++p) turn_tile(tile + p * plane);
  }
  return {_mm512_reduce_max_epi32(greatest_top), _mm512_reduce_min_epi32(least_lowest)};
}

bool scales_fit(const ScaledRows& in) {
  const Bytes256 tops(in.table->tops);
  __m512i greatest = splat(ScaleTable::kNone);
  for (unsigned first = 0; first < in.rows; first += kTileRows) greatest = _mm512_max_epi32(greatest, largest_byte(tops[load_scales(in, first)]));
  return _mm512_reduce_max_epi32(greatest) != ScaleTable::kUnfit;
}

}  // namespace drywell::numeric
#endif
