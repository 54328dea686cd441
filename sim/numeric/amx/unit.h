// The processor's tile unit (AMX), where it has one: 16 x 16 sums of products of bf16 in one instruction. It rounds every
// addition to nearest and flushes subnormals, so its sums are used where no addition can round: all values multiples of a
// unit, and no partial sum, in whatever order, as large as 2^24 of them.
//
// Plain pointers only: unit.cpp and the files that include steps-inl.h are compiled for processors that have the
// unit, and nothing inline of a shared header may be compiled there. Private to sim/numeric.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::numeric {

/// Whether this processor has the unit and the kernel of the operating system lets this process use it. Nothing else
/// below, nor in scaled.h and bytes.h, may be called otherwise.
bool tile_unit_available();

inline constexpr unsigned kTileRows = 16, kTileBytes = 1024;
/// Elements of bf16, or half the bytes, of a tile's row.
inline constexpr unsigned kTileK = 32;

/// Tiles of an operand. Rows: 16 rows of 64 bytes, k by k. Lanes: the same turned over in words of 32 bits, word w of all
/// rows together.
enum class TileSide : uint8_t { rows, lanes };

/// Configures the unit for the lifetime of the object.
class TileUnit {
 public:
  TileUnit();
  ~TileUnit();
  TileUnit(const TileUnit&) = delete;
  TileUnit& operator=(const TileUnit&) = delete;
};

/// Bytes, 64 of each row: d = c + sum, modulo 2^32; c may be null (0) and may be d. Strides in bytes.
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

/// Turns a tile over in place, from rows to lanes.
void turn_tile(uint8_t* tile);

}  // namespace drywell::numeric
