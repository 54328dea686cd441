// The tile unit (AMX) of some processors: one instruction computes 16 x 16 sums of products of bf16. It rounds every addition
// to nearest and flushes subnormals. Its sums are therefore used only if no addition can round: all values are multiples of a
// unit, and every partial sum, in any order, is below 2^24 units.
//
// Plain pointers only: unit.cpp and the files that include steps-inl.h are compiled for processors that have the unit, and
// these files must not compile inline functions of shared headers. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::numeric {

/// True if this processor has the unit and the operating system permits this process to use it. Otherwise no other function
/// of this file, scaled.h and bytes.h may be called.
bool amx_available();

inline constexpr unsigned kTileRows = 16, kTileBytes = 1024;
/// Elements of bf16 in a tile's row (64 bytes).
inline constexpr unsigned kTileK = 32;

/// Tiles of an operand. rows: 16 rows of 64 bytes, in order of k. lanes: transposed in words of 32 bits, so that word w of all
/// rows is one row of the tile.
enum class TileSide : uint8_t {
  rows,
  lanes
};

/// Configures the unit for the lifetime of the object.
class TileUnit {
 public:
  TileUnit();
  ~TileUnit();
  TileUnit(const TileUnit&) = delete;
  TileUnit& operator=(const TileUnit&) = delete;
};

/// Product of bytes, 64 per row: d = c + sum, modulo 2^32; c may be null (0) and may be d. Strides in bytes.
struct ByteTiles {
  const uint8_t* rows;
  const uint8_t* lanes;
  bool rows_signed, lanes_signed;
  unsigned column_tiles;  // a multiple of 4
  const uint32_t* c;
  uint32_t* d;
  size_t c_stride, d_stride;
};
void tile_dots(const ByteTiles& x);

/// Transposes a tile in place, from TileSide::rows to TileSide::lanes.
void turn_tile(uint8_t* tile);

}  // namespace drywell::numeric
