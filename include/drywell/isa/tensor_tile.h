// Memory accesses of one bulk tensor copy: rows of the box in SMEM, their GMEM bytes, out-of-bounds bytes, and the
// bytes counted on the mbarrier. Source: docs/facts/tma-mbarrier.md §2.3, §2.4, §2.6, §2.7 (PTX ISA 5.5; measured on an
// H200). All functions depend on their arguments only and may be called at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/isa/mods.h"
#include "drywell/isa/tensor_map.h"

namespace drywell::isa {

/// The box of a copy as rows of the innermost dimension.
struct TileGeometry {
  std::array<uint32_t, 5> n{1, 1, 1, 1, 1};  // elements per dimension after traversal strides; im2col: {C, P}
  uint32_t rows = 1;                         // rows of the box in SMEM
  uint32_t row_bytes = 0;                    // SMEM bytes of a row
  uint32_t row_pitch = 0;                    // SMEM bytes from one row to the next: row_bytes, or the swizzle span
  uint32_t global_row_bytes = 0;             // GMEM bytes of a row; less than row_bytes for the padded types
  uint32_t transaction_bytes = 0;            // complete-tx bytes, independent of out-of-bounds elements

  /// SMEM bytes from the start of the first row to the end of the last row.
  uint32_t smem_bytes() const { return (rows - 1) * row_pitch + row_bytes; }
};

/// Returns the geometry of a tile or im2col copy; `halo` is wHalo of the im2col::w modes. Throws Unsupported for im2col
/// copies through interleaved maps.
TileGeometry tile_geometry(const TensorMapFields& f, uint32_t halo = 0);
/// tile::gather4 / scatter4: four rows of box[0] elements (the map's box is {n, 1}, rank 2).
TileGeometry gather4_geometry(const TensorMapFields& f);

/// Required alignment in bytes of a copy's source or destination in SMEM (CUDA Programming Guide, TMA; measured).
inline constexpr uint32_t kTensorSmemAlignment = 128;

/// The direction of a copy.
enum class TensorAccess : uint8_t {
  load,
  store
};  // store: also reduce

/// One row of the box. Bytes `first`..`last` (SMEM row bytes, before the swizzle) are in bounds: a load fills the rest,
/// a store does not write it. first == last: no byte is in bounds.
struct TileRow {
  uint32_t smem_offset = 0;      // from the SMEM address of the copy, before the swizzle
  uint64_t global_offset = 0;    // GMEM offset in bytes of row byte 0 from the tensor's address, modulo 2^64
  uint32_t first = 0, last = 0;  // SMEM row bytes; `last` is not in bounds
};

/// Coordinates of a copy, dimension 0 first.
using TensorCoordinates = std::array<int32_t, 5>;

/// Returns row `row` (0..rows-1) of a tile copy at `start`. Loads clip every dimension per element; stores clip
/// dimension 0 to the next 16 bytes (docs/facts/tma-mbarrier.md §2.4, note s).
TileRow tile_row(const TensorMapFields& f, const TileGeometry& g, const TensorCoordinates& start,
                 uint32_t row, TensorAccess access);

/// Returns row `i` (0..3) of a gather4 or scatter4 copy: it has its own GMEM row and its own bounds check.
TileRow gather4_row(const TensorMapFields& f, const TileGeometry& g, int32_t column,
                    const std::array<int32_t, 4>& rows, unsigned i, TensorAccess access);

/// Reports E1475 if a copy must not start at `start`: the innermost start is not a multiple of 16 bytes (128 elements
/// for the padded types), or a store starts below zero. The device faults with error 715.
void check_coordinates(const TensorMapFields& f, const TensorCoordinates& start, TensorAccess access,
                       Diagnostics& out, const SourcePos& where = {});

/// The 16 bits that fill every out-of-bounds half word: 0, or the NaN pattern 0x7FF7 (measured).
constexpr uint16_t oob_fill_half(OobFill f) { return f == OobFill::nan ? 0x7FF7 : 0; }

/// The loads of tf32 and tf32.ftz maps round each f32 to 10 fraction bits, nearest even; NaN becomes
/// 7FFFE000.
constexpr uint32_t tf32_load_rounding(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) {
    return 0x7FFFE000;
  }
  return (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000;
}

/// The pixels of an im2col copy in order (docs/facts/tma-mbarrier.md §2.7). In the w modes only W advances, then the image, in a bounding
/// box moved by wOffset (PTX ISA 5.5.5). One thread uses a walk at a time.
class Im2colWalk {
 public:
  /// The first pixel: the instruction's coordinates.
  struct Start {
    int32_t channel = 0;               // dimension 0
    std::array<int32_t, 3> spatial{};  // W, H, D
    int32_t image = 0;                 // the last dimension
  };
  /// `offsets`: W, H, D; in the w modes {wHalo, wOffset}.
  Im2colWalk(const TensorMapFields& f, const Start& start, const std::array<uint32_t, 3>& offsets,
             TensorAccess access = TensorAccess::load);

  /// Returns the current pixel as a row: channels start..start+C-1, clipped to the tensor's channels.
  TileRow row() const;
  /// Goes to the next pixel.
  void advance();

 private:
  TensorMapFields f_;
  Start position_;
  std::array<uint32_t, 3> offsets_;
  TensorAccess access_;
  unsigned moving_ = 0;  // spatial dimensions that advance
  uint32_t pixel_ = 0, pitch_ = 0, row_bytes_ = 0;
};

/// Operands of one copy instruction, in any mode.
struct TensorRequest {
  Mod mode = Mod::tile;                      // tile, tile_gather4, tile_scatter4, im2col, im2col_w, im2col_w_128, im2col_no_offs
  TensorAccess access = TensorAccess::load;  // direction
  TensorCoordinates coord{};                 // dimension 0 first; gather4 and scatter4: {column, row0 … row3}
  std::array<uint16_t, 3> offset{};          // im2col: W, H, D; w modes: {wHalo, wOffset}
};

/// The rows of a copy in any mode, in SMEM order.
struct TensorRows {
  TileGeometry geometry;      // of the box
  std::vector<TileRow> rows;  // one after another in SMEM
};
/// Returns the rows of a copy; the request is a checked one (check_request).
TensorRows tensor_rows(const TensorMapFields& f, const TensorRequest& r);

/// Reports E1475 for coordinates and offsets that the device rejects, E1478 if the mode does not fit the map, E1479 for
/// types and swizzles that work in the other direction only, E1476 for a box of more bytes than any shared memory has, which
/// the encoder takes where a traversal stride is larger than the box (docs/facts/tma-mbarrier.md §2.2, §2.3, §2.5).
void check_request(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out,
                   const SourcePos& where = {});

}  // namespace drywell::isa
