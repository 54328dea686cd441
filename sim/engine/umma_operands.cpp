#include "sim/engine/umma_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace drywell::sim {
namespace {

// Unpacks the 16 elements of a padded 16-byte unit to one byte each (docs/facts/tcgen05.md §8: little-endian bit stream,
// data first). Each group of four elements fits in one 32-bit word.
template <unsigned kBits>
void unpack_container(const uint8_t* in, uint8_t* out) {
  constexpr uint32_t kMask = (1u << kBits) - 1;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t bits;
    std::memcpy(&bits, in + i * kBits / 2, 4);
    uint32_t bytes = 0;
    for (unsigned e = 0; e < 4; ++e) bytes |= (bits >> e * kBits & kMask) << 8 * e;
    std::memcpy(out + 4 * i, &bytes, 4);
  }
}

// Copies lines of kPerLine chunks without conversion.
template <uint32_t kPerLine>
void copy_lines(const uint8_t* smem, const uint32_t* chunks, uint32_t lines, uint8_t* out, size_t row_bytes) {
  for (uint32_t row = 0; row < lines; ++row, chunks += kPerLine, out += row_bytes)
    for (uint32_t c = 0; c < kPerLine; ++c) std::memcpy(out + c * 16, smem + chunks[c], 16);
}

void gather_k_major(const Smem& smem, const isa::OperandTile& tile, const uint32_t* chunks,
                    uint8_t* out, size_t row_bytes) {
  const uint32_t per_line = tile.chunks_per_line();
  const unsigned bits = isa::value_bits(tile.element);
  const bool container = bits < isa::storage_bits(tile.element);
  if (!container && per_line == 1) return copy_lines<1>(smem.data(), chunks, tile.mn, out, row_bytes);
  if (!container && per_line == 2) return copy_lines<2>(smem.data(), chunks, tile.mn, out, row_bytes);
  for (uint32_t row = 0; row < tile.mn; ++row) {
    for (uint32_t c = 0; c < per_line; ++c) {
      const uint8_t* in = smem.data() + chunks[row * per_line + c];
      uint8_t* to = out + row * row_bytes + c * 16;
      if (container) {
        bits == 4 ? unpack_container<4>(in, to) : unpack_container<6>(in, to);
      } else {
        std::memcpy(to, in, 16);
      }
    }
  }
}

template <class T>
void gather_mn_major(const Smem& smem, const isa::OperandTile& tile, const uint32_t* chunks,
                     uint8_t* out, size_t row_bytes) {
  constexpr uint32_t kPer = 16 / sizeof(T);
  const uint32_t per_line = tile.chunks_per_line();
  for (uint32_t k = 0; k < tile.k; ++k) {
    for (uint32_t c = 0; c < per_line; ++c) {
      const uint8_t* in = smem.data() + chunks[k * per_line + c];
      for (uint32_t e = 0; e < kPer && c * kPer + e < tile.mn; ++e)
        std::memcpy(out + (c * kPer + e) * row_bytes + k * sizeof(T), in + e * sizeof(T), sizeof(T));
    }
  }
}

// Gathers rows of an operand in shared memory as codes along k. check_places has checked the bounds.
void gather_smem(const Smem& smem, uint64_t desc, const isa::OperandTile& tile, uint8_t* out,
                 size_t row_bytes) {
  const auto list = std::make_unique_for_overwrite<uint32_t[]>(tile.chunks());
  const uint32_t* chunks = list.get();
  isa::operand_row_chunks(isa::SmemDescriptor::decode(desc), tile, {list.get(), tile.chunks()});
  if (tile.major == isa::Major::k) return gather_k_major(smem, tile, chunks, out, row_bytes);
  switch (tile.element) {
    case isa::SmemElement::half: return gather_mn_major<uint16_t>(smem, tile, chunks, out, row_bytes);
    case isa::SmemElement::word: return gather_mn_major<uint32_t>(smem, tile, chunks, out, row_bytes);
    default: return gather_mn_major<uint8_t>(smem, tile, chunks, out, row_bytes);
  }
}

// A row of A is in eight columns, in the lane of D's row (docs/facts/tcgen05.md §5); elements narrower than 8 bits are in
// byte containers.
void gather_tmem_a(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* out) {
  const TmemAddr base(static_cast<uint32_t>(u.a));
  const unsigned width = isa::element_bits(f.idesc.a_element());
  const bool container = f.storage == numeric::CodeStorage::bytes && width < 8;
  const unsigned shift = width == 4 ? isa::kFp4ContainerShift : isa::kFp6ContainerShift;
  for (uint32_t copy = 0; copy < f.a_copies; ++copy) {
    for (uint32_t m = 0; m < f.m; ++m) {
      const isa::TmemCell cell = isa::a_row(f.layout, m, copy * (f.n / f.column_groups), f.n);
      const Tmem& tmem = group.tmem(cell.cta);
      uint8_t* row = out + (size_t{copy} * f.m + m) * f.a_row_bytes;
      for (uint32_t c = 0; c < isa::a_columns(f.idesc.k96); ++c) {
        const uint32_t word = tmem.at(base.lane() + cell.lane, base.column() + c);
        std::memcpy(row + 4 * c, &word, 4);
      }
      for (uint32_t i = 0; container && i < f.a_row_bytes; ++i)
        row[i] = static_cast<uint8_t>(row[i] >> shift & ((1u << width) - 1));
    }
  }
}

void gather_b(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* out) {
  const uint32_t n_per_cta = f.n / f.ctas, shift = f.mask.column_shift;
  std::vector<uint8_t> shifted(shift != 0 ? size_t{f.b.mn} * f.b_row_bytes : 0);
  for (uint32_t i = 0; i < f.ctas; ++i) {
    uint8_t* rows = out + size_t{i} * n_per_cta * f.b_row_bytes;
    gather_smem(group.cta(i).smem, u.b, f.b, shift != 0 ? shifted.data() : rows, f.b_row_bytes);
    if (shift != 0)
      std::memcpy(rows, shifted.data() + size_t{shift} * f.b_row_bytes, size_t{n_per_cta} * f.b_row_bytes);
  }
  if (!f.mask.generate) return;
  std::vector<uint8_t> zeroed(f.n);
  isa::zeroed_columns(f.mask, f.m, zeroed);
  for (uint32_t n = 0; n < f.n; ++n) {
    if (zeroed[n] != 0) std::memset(out + n * f.b_row_bytes, 0, f.b_row_bytes);
  }
}

GuestError copies_differ(const char* operand, const char* index, uint32_t i) {
  return GuestError{Code::F3217, fmt::format("tcgen05.mma: scale factors of {} {} {} differ between the lane partitions that must "
                                             "hold copies of them",
                                             operand, index, i)};
}

template <class T>
void store_words(const uint32_t* words, uint32_t count, uint8_t* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const auto low = static_cast<T>(words[i]);
    std::memcpy(out + i * sizeof(T), &low, sizeof(T));
  }
}

// Gathers the factors of `count` neighbouring rows, one row per lane, from the partitions first .. last - 1 of `column`. If
// the copies of the partitions differ, returns false and sets `differs` to the row.
inline bool gather_some(const uint32_t* column, uint32_t first, uint32_t last, uint32_t count, uint32_t id, uint32_t factors,
                        uint8_t* out, uint32_t& differs) {
  const uint32_t mask = factors == 4 ? ~0u : (1u << 8 * factors) - 1;
  uint32_t words[32], difference = 0;
  for (uint32_t i = 0; i < count; ++i) words[i] = column[32 * first + i] >> 8 * id & mask;
  for (uint32_t p = first + 1; p < last; ++p)
    for (uint32_t i = 0; i < count; ++i) difference |= words[i] ^ (column[32 * p + i] >> 8 * id & mask);
  switch (factors) {
    case 4: std::memcpy(out, words, size_t{4} * count); break;
    case 2: store_words<uint16_t>(words, count, out); break;
    default: store_words<uint8_t>(words, count, out); break;
  }
  for (uint32_t i = 0; difference != 0 && i < count; ++i) {
    for (uint32_t p = first + 1; p < last; ++p) {
      if (words[i] == (column[32 * p + i] >> 8 * id & mask)) continue;
      differs = i;
      return false;
    }
  }
  return true;
}

// The three or six factors of K = 96 may continue in the word `word_step` cells further on.
bool gather_over_words(const uint32_t* column, size_t word_step, uint32_t first, uint32_t last, uint32_t count, uint32_t id, uint32_t factors,
                       uint8_t* out, uint32_t& differs) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < factors; ++j) {
      const auto copy = [&](uint32_t p) { return static_cast<uint8_t>(column[(id + j) / 4 * word_step + 32 * p + i] >> 8 * ((id + j) % 4)); };
      out[i * factors + j] = copy(first);
      for (uint32_t p = first + 1; p < last; ++p) {
        if (copy(p) == copy(first)) continue;
        differs = i;
        return false;
      }
    }
  }
  return true;
}

// The count is 32 in nearly all calls: a constant lets the compiler unroll the loops.
bool gather_factors(const uint32_t* column, size_t word_step, uint32_t first, uint32_t last, uint32_t count, uint32_t id, uint32_t factors,
                    uint8_t* out, uint32_t& differs) {
  if (factors % 3 == 0) return gather_over_words(column, word_step, first, last, count, id, factors, out, differs);
  return count == 32 ? gather_some(column, first, last, 32, id, factors, out, differs)
                     : gather_some(column, first, last, count, id, factors, out, differs);
}

EngineResult gather_sfa(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* out) {
  const TmemAddr base(u.sfa & isa::kScaleAddressMask);
  for (uint32_t m = 0; m < f.m; m += 32) {
    const isa::TmemByte at = isa::sfa_place(m % f.m_per_cta, 0, f.idesc.sfa_id, 0);
    const uint32_t* column = group.tmem(m / f.m_per_cta).column(base.column() + at.column) + base.lane() + at.lane;
    uint32_t differs = 0;
    if (!gather_factors(column, isa::kSfaWordColumns * kTmemLanes, 0, 4, std::min(32u, f.m - m), at.byte, f.factors, out + size_t{m} * f.factors, differs))
      return copies_differ("A", "row", m + differs);
  }
  return std::nullopt;
}

// All partitions hold the factors of all N, except in layout B: there two partitions hold each half of N.
EngineResult gather_sfb(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* out) {
  const TmemAddr base(u.sfb & isa::kScaleAddressMask);
  const uint32_t halves = f.layout == isa::DLayout::B ? 2 : 1, width = f.n / halves;
  for (uint32_t i = 0; i < f.ctas; ++i) {
    for (uint32_t h = 0; h < halves; ++h) {
      const uint32_t first = 2 * h, last = halves == 2 ? first + 2 : 4;
      for (uint32_t n = 0; n < width; n += 32) {
        const isa::TmemByte at = isa::sfb_place(f.layout, h * width + n, f.n, 0, f.idesc.sfb_id, 0);
        const uint32_t* column = group.tmem(i).column(base.column() + at.column) + base.lane() + at.lane;
        const uint32_t count = std::min(32u, width - n);
        uint32_t differs = 0;
        if (!gather_factors(column, size_t{isa::sfb_word_columns(f.layout, f.n)} * kTmemLanes, first, last, count, at.byte, f.factors, out, differs))
          return copies_differ("B", "column", h * width + n + differs);
        out += size_t{count} * f.factors;
      }
    }
  }
  return std::nullopt;
}

bool is_legal_group(isa::MmaKind kind, unsigned nibble) {
  constexpr unsigned kPairs =
      1u << 0x4 | 1u << 0x8 | 1u << 0xC | 1u << 0x9 | 1u << 0xD | 1u << 0x6 | 1u << 0xE;
  return ((kind == isa::MmaKind::tf32 ? 1u << 0x4 | 1u << 0xE : kPairs) >> nibble & 1) != 0;
}

// Compressors write no particular index pair for a group whose values are all zero (CUTLASS 83); such a group needs none.
bool is_zero_group(const UmmaForm& f, const uint8_t* a, uint32_t copy, uint32_t m, uint32_t g) {
  const uint32_t bytes = f.a_row_bytes / f.groups;
  const uint8_t* first = a + (size_t{copy % f.a_copies} * f.m + m) * f.a_row_bytes + size_t{g} * bytes;
  return std::all_of(first, first + bytes, [](uint8_t b) { return b == 0; });
}

/// `a`: the staged operand.
EngineResult gather_meta(const TmemGroup& group, const Umma& u, const UmmaForm& f, const uint8_t* a, uint8_t* out) {
  const TmemAddr base(u.meta);
  const uint32_t step = f.k / f.groups;
  for (uint32_t copy = 0; copy < f.meta_copies; ++copy) {
    for (uint32_t m = 0; m < f.m; ++m) {
      const Tmem& tmem = group.tmem(m / f.m_per_cta);
      for (uint32_t g = 0; g < f.groups; ++g, ++out) {
        const isa::TmemBits at = isa::metadata_bits(f.idesc.kind, g * step, m, f.idesc.sparsity_selector);
        const uint32_t lane = isa::metadata_lane(f.idesc.kind, f.layout, m, g * step, copy);
        *out = static_cast<uint8_t>(tmem.at(base.lane() + lane, base.column() + at.column) >> at.low & 0xF);
        if (!is_legal_group(f.idesc.kind, *out) && !is_zero_group(f, a, copy, m, g)) {
          return GuestError{
              Code::F3218, fmt::format("tcgen05.mma.sp: metadata {:#x} of row {}, k {} to {} names no legal pair",
                                       *out, m, g * step, (g + 1) * step - 1)};
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

UmmaStage::UmmaStage(const UmmaForm& f)
    : b(size_t{f.a_copies} * f.m * f.a_row_bytes),
      sfa(b + size_t{f.n} * f.b_row_bytes),
      sfb(sfa + size_t{f.m} * f.factors),
      meta(sfb + size_t{f.ctas} * f.n * f.factors),
      bytes(meta + size_t{f.meta_copies} * f.m * f.groups) {}

EngineResult read_operands(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* stage) {
  const UmmaStage at(f);
  if (u.a_in_tmem) {
    gather_tmem_a(group, u, f, stage);
  } else {
    for (uint32_t i = 0; i < f.ctas; ++i)
      gather_smem(group.cta(i).smem, u.a, f.a, stage + size_t{i} * f.m_per_cta * f.a_row_bytes,
                  f.a_row_bytes);
  }
  gather_b(group, u, f, stage + at.b);
  EngineResult e;
  if (f.factors != 0) {
    e = gather_sfa(group, u, f, stage + at.sfa);
    if (!e.has_value()) e = gather_sfb(group, u, f, stage + at.sfb);
  }
  if (!e.has_value() && u.sparse) e = gather_meta(group, u, f, stage, stage + at.meta);
  return e;
}

uint32_t selected_k(isa::MmaKind kind, const uint8_t* meta, uint32_t i) {
  if (kind == isa::MmaKind::tf32) return 2 * i + (meta[i] == 0xE ? 1 : 0);
  if (!isa::is_packed_fp4(kind)) return 4 * (i / 2) + (meta[i / 2] >> (i % 2 * 2) & 3);
  // Four of eight elements are stored: each index selects a pair.
  return 8 * (i / 4) + 2 * (meta[i / 4] >> (i / 2 % 2 * 2) & 3u) + i % 2;
}

}  // namespace drywell::sim
