// tcgen05.cp: the SMEM units that each shape reads, their place in TMEM, and the decompression of narrow formats.
// Source: docs/facts/tcgen05.md §3 (PTX ISA 9.7.16.9.1). All functions depend on their arguments only and may be called at
// the same time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "drywell/core/error.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tmem_layout.h"

namespace drywell::isa {

/// `.shape{.multicast}`.
enum class CopyShape : uint8_t {
  s128x256b,
  s4x256b,
  s128x128b,
  s64x128b_02_13,
  s64x128b_01_23,
  s32x128b_warpx4
};
/// Number of shapes.
inline constexpr unsigned kCopyShapeCount = 6;

/// Rows of shared memory that one copy reads.
constexpr unsigned copy_rows(CopyShape s) {
  switch (s) {
    case CopyShape::s128x256b:
    case CopyShape::s128x128b: return 128;
    case CopyShape::s4x256b: return 4;
    case CopyShape::s32x128b_warpx4: return 32;
    default: return 64;
  }
}

/// Number of 16-byte units of one row; each fills four columns, with and without decompression.
constexpr unsigned copy_units(CopyShape s) {
  return s == CopyShape::s128x256b || s == CopyShape::s4x256b ? 2 : 1;
}
/// Columns of tensor memory that one copy writes.
constexpr unsigned copy_columns(CopyShape s) { return 4 * copy_units(s); }

/// SMEM address of 16-byte unit `unit` of row `row`; the descriptor addresses a K-major operand.
constexpr uint32_t copy_source(const SmemDescriptor& d, unsigned row, unsigned unit) {
  return operand_chunk_address(d, Major::k, row, unit);
}

/// Lanes that receive one row.
struct CopyLanes {
  unsigned count = 0;              // of lanes
  std::array<uint16_t, 4> lane{};  // the first `count` of them
};

/// Lanes of row `row`, relative to the lane of the TMEM address, which only 4x256b uses (docs/facts/tcgen05.md §3: e.g. 0 or 31).
constexpr CopyLanes copy_lanes(CopyShape s, unsigned row) {
  const auto at = [](unsigned v) { return static_cast<uint16_t>(v); };
  switch (s) {
    case CopyShape::s4x256b: return {1, {at(32 * row)}};
    case CopyShape::s64x128b_02_13: return {2, {at(row), at(row + 64)}};
    case CopyShape::s64x128b_01_23: {
      const unsigned lane = 64 * (row / 32) + row % 32;
      return {2, {at(lane), at(lane + 32)}};
    }
    case CopyShape::s32x128b_warpx4: return {4, {at(row), at(row + 32), at(row + 64), at(row + 96)}};
    default: return {1, {at(row)}};
  }
}

/// `.dst_fmt.src_fmt`: none, .b8x16.b4x16_p64 or .b8x16.b6x16_p32.
enum class CopyFormat : uint8_t {
  none,
  b4x16_p64,
  b6x16_p32
};

/// Expands 16 packed elements and their padding into 16 byte containers; copies for `none`. Four-bit values go to bits
/// 5..2, six-bit values to kFp6ContainerShift.
void decompress_unit(CopyFormat format, std::span<const uint8_t, 16> in, std::span<uint8_t, 16> out);

/// Reports descriptor rules of the copy (D1, D2, D4) and E1411: a copy past lane 127 or column 511.
void check_copy(const SmemDescriptor& d, CopyShape shape, uint32_t lane, uint32_t column, uint32_t smem_bytes,
                Diagnostics& out, const SourcePos& where = {});

}  // namespace drywell::isa
