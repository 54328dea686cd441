// Layouts of tcgen05 in TMEM: accumulators (layouts A..G), A operands, scale factors, sparse metadata, and the register
// maps of tcgen05.ld/st. All lanes and columns are relative to the base address of the operand; add its lane and
// column. Source: docs/facts/tcgen05.md §2, §5, §6 (PTX ISA 9.7.16.2, 9.7.16.5, 9.7.16.10). All functions depend on their
// arguments only and may be called at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "drywell/core/error.h"
#include "drywell/isa/instr_descriptor.h"

namespace drywell::isa {

inline constexpr unsigned kTmemLanes = 128, kTmemColumns = 512;  // of one SM; a cell has 32 bits

// --- Accumulator D ---

/// PTX's names of the data-path layouts.
enum class DLayout : uint8_t {
  A,
  B,
  C,
  D,
  E,
  F,
  G
};

/// Layout of D for an MMA; nothing if there is no such MMA.
constexpr std::optional<DLayout> d_layout(unsigned m, unsigned cta_group, bool ws, bool sparse) {
  if (cta_group == 2) {
    if (ws) {
      return std::nullopt;
    }
    if (m == 256) {
      return DLayout::A;
    }
    if (m == 128) {
      return sparse ? DLayout::C : DLayout::B;
    }
    return std::nullopt;
  }
  if (m == 128) {
    return DLayout::D;
  }
  if (m == 64) {
    return ws ? DLayout::E : DLayout::F;
  }
  if (m == 32 && ws) {
    return DLayout::G;
  }
  return std::nullopt;
}

/// A 32-bit cell of TMEM; `cta` is 0 for the even CTA of a pair (and for a single one), 1 for the odd.
struct TmemCell {
  uint8_t cta = 0;                // of the pair
  uint16_t lane = 0, column = 0;  // column relative to the address
  constexpr bool operator==(const TmemCell&) const = default;
};

/// Lane of row `m` (0..63) of the layouts that use 16 lanes of each 32-lane partition (C, F).
constexpr unsigned half_lanes(unsigned m) { return 32 * (m / 16) + m % 16; }

/// Place of D(m, n), m a row of the whole tile, for an MMA of N columns (docs/facts/tcgen05.md §5).
constexpr TmemCell d_cell(DLayout layout, unsigned m, unsigned n, unsigned total_n) {
  const auto cell = [](unsigned cta, unsigned lane, unsigned column) {
    return TmemCell{static_cast<uint8_t>(cta), static_cast<uint16_t>(lane), static_cast<uint16_t>(column)};
  };
  const unsigned half = total_n / 2, quarter = total_n / 4;
  switch (layout) {
    case DLayout::A: return cell(m / 128, m % 128, n);
    case DLayout::B: return cell(m / 64, m % 64 + 64 * (n / half), n % half);
    case DLayout::C: return cell(m / 64, half_lanes(m % 64), n);
    case DLayout::D: return cell(0, m, n);
    case DLayout::E: return cell(0, m + 64 * (n / half), n % half);
    case DLayout::F: return cell(0, half_lanes(m), n);
    case DLayout::G: return cell(0, m + 32 * (n / quarter), n % quarter);
  }
  return {};
}

/// Groups of lanes over which a layout spreads N: 1, 2 (B, E) or 4 (G).
constexpr unsigned d_column_groups(DLayout layout) {
  return layout == DLayout::B || layout == DLayout::E ? 2 : layout == DLayout::G ? 4
                                                                                 : 1;
}

/// Number of columns of D.
constexpr unsigned d_columns(DLayout layout, unsigned total_n) { return total_n / d_column_groups(layout); }

/// Number of rows of D in one CTA.
constexpr unsigned d_rows_per_cta(DLayout layout) {
  switch (layout) {
    case DLayout::A:
    case DLayout::D: return 128;
    case DLayout::G: return 32;
    default: return 64;
  }
}

/// Legal lanes of the base address of D: 0, and 16 for C and F (docs/facts/tcgen05.md §5, rule M4).
constexpr bool is_valid_d_base_lane(DLayout layout, unsigned lane) {
  return lane == 0 || (lane == 16 && (layout == DLayout::C || layout == DLayout::F));
}

// --- A in TMEM ---

/// Left shift of the value inside its byte container (docs/facts/tcgen05.md §3, §5). Public sources disagree on the 6-bit place (bits
/// 5..0 or 6..1); all code uses this constant, so that cp, A in TMEM and the datapath agree.
inline constexpr unsigned kFp4ContainerShift = 2;
/// The same of 6-bit values.
inline constexpr unsigned kFp6ContainerShift = 0;

/// Column relative to A's address, and bits of that column.
struct TmemBits {
  uint16_t column = 0;         // relative to A's address
  uint8_t low = 0, width = 0;  // lowest bit, and number of bits
  constexpr bool operator==(const TmemBits&) const = default;
};

/// Columns of A per MMA: 32 bytes a row, 48 if K is 96.
inline constexpr unsigned kTmemAColumns = 8;
/// The same for either K.
constexpr unsigned a_columns(bool k96) { return k96 ? kTmemAColumns * 3 / 2 : kTmemAColumns; }

/// Column and bits of stored element k of an A row (k counts compressed elements when sparse).
constexpr TmemBits a_bits(MmaKind kind, MmaElement element, unsigned k) {
  const SmemElement stored = is_packed_fp4(kind)           ? SmemElement::packed4
                             : element_bits(element) == 16 ? SmemElement::half
                             : element_bits(element) == 32 ? SmemElement::word
                                                           : SmemElement::byte;
  const unsigned bits = storage_bits(stored), bit = k * bits;
  unsigned shift = 0, width = bits;
  if (stored == SmemElement::byte) {
    width = element_bits(element);
    shift = width == 4 ? kFp4ContainerShift : width == 6 ? kFp6ContainerShift
                                                         : 0;
  }
  return {static_cast<uint16_t>(bit / 32), static_cast<uint8_t>(bit % 32 + shift),
          static_cast<uint8_t>(width)};
}

/// CTA and lane of the copy of A row `m` that the output D(m, n) reads: the lane of D(m, n). Layouts B and E need two
/// copies of A, G four.
constexpr TmemCell a_row(DLayout layout, unsigned m, unsigned n, unsigned total_n) {
  TmemCell c = d_cell(layout, m, n, total_n);
  c.column = 0;
  return c;
}

// --- Scale factors ---

/// Byte `byte` of the 32-bit cell at (lane, column).
struct TmemByte {
  uint16_t lane = 0, column = 0;  // column relative to the address
  uint8_t byte = 0;               // 0 to 3 of the cell
  constexpr bool operator==(const TmemByte&) const = default;
};

/// Mask of the address bits of a scale operand: bits 31..30 hold CUTLASS's factor id and are ignored (docs/facts/tcgen05.md §6.2).
inline constexpr uint32_t kScaleAddressMask = 0x3FFFFFFF;

/// Columns from the word with four factors of A to the word with the next four. K = 96 has three or six factors, which may begin in one
/// word and end in the next (CUTLASS's tmem_sf_frg for sm_103: blocks of 128 rows; docs/facts/tcgen05.md §6.2).
inline constexpr unsigned kSfaWordColumns = 4;
/// The same for B with `total_n` columns of D: blocks of 128, of which a partition holds half in layout B.
constexpr unsigned sfb_word_columns(DLayout layout, unsigned total_n) { return (layout == DLayout::B ? 2 : 4) * ((total_n + 127) / 128); }

/// Place of factor `j` of row `m` of A (row within the CTA), in the copy of lane partition `partition` (0..3).
constexpr TmemByte sfa_place(unsigned m, unsigned j, unsigned sfa_id, unsigned partition) {
  const unsigned byte = sfa_id + j;
  return {static_cast<uint16_t>(m % 32 + 32 * partition), static_cast<uint16_t>(m / 32 + byte / 4 * kSfaWordColumns), static_cast<uint8_t>(byte % 4)};
}

/// Place of factor `j` of column `n` of B. In layout B the partitions 2h, 2h+1 hold the N half h = n / (N/2) only, and
/// `partition` must be one of them; in the other layouts every partition holds all N.
constexpr TmemByte sfb_place(DLayout layout, unsigned n, unsigned total_n, unsigned j, unsigned sfb_id,
                             unsigned partition) {
  const unsigned index = layout == DLayout::B ? n % (total_n / 2) : n, byte = sfb_id + j;
  return {static_cast<uint16_t>(index % 32 + 32 * partition), static_cast<uint16_t>(index / 32 + byte / 4 * sfb_word_columns(layout, total_n)),
          static_cast<uint8_t>(byte % 4)};
}

/// Columns of the scale factors of A in one CTA; `end`: id and number of an MMA's factors together.
constexpr unsigned sfa_columns(DLayout layout, unsigned end = 1) { return (d_rows_per_cta(layout) + 31) / 32 + (end - 1) / 4 * kSfaWordColumns; }
/// The same for B with `total_n` columns of D.
constexpr unsigned sfb_columns(DLayout layout, unsigned total_n, unsigned end = 1) {
  return ((layout == DLayout::B ? total_n / 2 : total_n) + 31) / 32 + (end - 1) / 4 * sfb_word_columns(layout, total_n);
}

/// Byte of factor `sf` of row `row` in the interleaved GMEM/SMEM layout of scale factors: 512-byte tiles of 128 rows x
/// 4 factors, `k_tiles` of them along K before the next 128 rows (CUTLASS sm100_blockscaled_layout.hpp, docs/facts/tcgen05.md §6.2).
/// One tile is the source of one tcgen05.cp.32x128b.warpx4 (no swizzle, SBO 128).
constexpr uint64_t scale_factor_offset(uint64_t row, uint64_t sf, uint64_t k_tiles) {
  return row / 128 * 512 * k_tiles + sf / 4 * 512 + row % 32 * 16 + row / 32 % 4 * 4 + sf % 4;
}

// --- Sparse metadata ---

/// Place of the 4-bit metadata group with the indices of the kept elements of A(m, logical k ...): low half = first
/// index, high = second. `m` is a row of the whole tile; `copy` 0..d_column_groups-1 selects a copy of the ws layouts.
/// `selector` is the sparsity selector of f16 and tf32 (column inside a pair). C and F are inferred from D (docs/facts/tcgen05.md §6.3,
/// guess).
TmemBits metadata_bits(MmaKind kind, unsigned k, unsigned m, unsigned selector);
/// CTA-relative lane of the same group. Throws InternalError if the layout has no copy `copy`.
unsigned metadata_lane(MmaKind kind, DLayout layout, unsigned m, unsigned k, unsigned copy);
/// Number of metadata columns of one MMA (from the base, selector included in the pair).
unsigned metadata_columns(MmaKind kind);

// --- tcgen05.ld / st ---
/// `.SHAPE` of tcgen05.ld and st: lanes x bits that a warp accesses in one step; 16x32bx2 in two places (PTX ISA 9.7.16.8).
enum class TmemShape : uint8_t {
  s32x32b,
  s16x64b,
  s16x128b,
  s16x256b,
  s16x32bx2
};
inline constexpr unsigned kTmemShapeCount = 5;  // of TmemShape

/// One ld or st: `.SHAPE.xN{.pack::16b}` and the immediate of 16x32bx2.
struct TmemAccess {
  TmemShape shape = TmemShape::s32x32b;  // .shape
  uint16_t num = 1;                      // .num
  bool pack = false;                     // .pack::16b, .unpack::16b
  int32_t half_split = 0;                // TMEM columns between the halves of 16x32bx2
};

/// Lanes that a warp reaches in one half of the instruction.
constexpr unsigned tmem_lanes(TmemShape s) { return s == TmemShape::s32x32b ? 32 : 16; }
/// The largest .num.
constexpr unsigned max_num(TmemShape s) {
  return s == TmemShape::s16x128b ? 64 : s == TmemShape::s16x256b ? 32
                                                                  : 128;
}
/// Registers per thread; `.pack` does not change it.
constexpr unsigned tmem_registers(TmemShape s, unsigned num) {
  return s == TmemShape::s16x128b ? 2 * num : s == TmemShape::s16x256b ? 4 * num
                                                                       : num;
}
/// Number of columns from the base without `.pack` (twice as many with it); of one half for 16x32bx2.
constexpr unsigned tmem_columns(TmemShape s, unsigned num) {
  switch (s) {
    case TmemShape::s16x64b: return 2 * num;
    case TmemShape::s16x128b: return 4 * num;
    case TmemShape::s16x256b: return 8 * num;
    default: return num;
  }
}

/// Lane and column relative to the base; the column is signed because half_split is signed.
struct TmemOffset {
  uint32_t lane = 0;   // relative to the address
  int32_t column = 0;  // relative to the address
  constexpr bool operator==(const TmemOffset&) const = default;
};

/// Cell of register `r` of thread `t` (docs/facts/tcgen05.md §2.2). With `.pack` it is the cell of bits 15..0; bits 31..16
/// are the low half of the next column.
constexpr TmemOffset tmem_offset(const TmemAccess& a, unsigned t, unsigned r) {
  unsigned lane = 0, column = 0;
  int32_t split = 0;
  switch (a.shape) {
    case TmemShape::s32x32b: lane = t, column = r; break;
    case TmemShape::s16x64b: lane = t / 4 + 8 * (t & 1), column = ((t >> 1) & 1) + 2 * r; break;
    case TmemShape::s16x128b: lane = t / 4 + 8 * (r & 1), column = (t & 3) + 4 * (r >> 1); break;
    case TmemShape::s16x256b:
      lane = t / 4 + 8 * ((r >> 1) & 1), column = 2 * (t & 3) + (r & 1) + 8 * (r >> 2);
      break;
    case TmemShape::s16x32bx2: lane = t % 16, column = r, split = t >= 16 ? a.half_split : 0; break;
  }
  return {lane, static_cast<int32_t>(a.pack ? 2 * column : column) + split};
}

/// First lane that a warp accesses, from the lane field of its address: fields below 32 are relative to the warp's own
/// partition, larger ones absolute (docs/facts/tcgen05.md §1.1). Nothing if the lane is not legal for the warp and shape.
constexpr std::optional<unsigned> tmem_base_lane(TmemShape s, unsigned lane_field, unsigned warp) {
  const unsigned partition = 32 * (warp % 4);
  const unsigned lane = lane_field < 32 ? partition + lane_field : lane_field;
  const bool aligned = lane % 32 == 0 || (s != TmemShape::s32x32b && lane % 32 == 16);
  if (lane / 32 * 32 != partition || !aligned) {
    return std::nullopt;
  }
  return lane;
}

}  // namespace drywell::isa
