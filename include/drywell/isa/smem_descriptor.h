// The 64-bit SMEM matrix descriptor of tcgen05.mma/cp and of wgmma, and the address of each operand element that it
// describes. Source: docs/facts/tcgen05.md §4.6, §8 (PTX ISA 9.7.16.4.1); wgmma: PTX ISA 9.7.15.5.1.2.2. Addresses are byte
// offsets in the shared window, 18 bits. All functions depend on their arguments only and may be called at the same
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/isa/field_note.h"
#include "drywell/isa/swizzle.h"

namespace drywell::isa {

/// The index of an operand (K or M/N) that is contiguous in memory.
enum class Major : uint8_t {
  k = 0,
  mn = 1
};

/// The instruction that reads the descriptor.
enum class SmemDescriptorFormat : uint8_t {
  tcgen05,
  wgmma
};

/// The start address field has 14 bits of 16-byte units: operand addresses wrap at 256 KiB (docs/facts/tcgen05.md §4.6).
inline constexpr uint32_t kSmemDescriptorAddressMask = 0x3FFFF;

/// Decoded descriptor; byte units. Bits outside all fields are kept in `reserved`, so encode(decode(w)) == w.
struct SmemDescriptor {
  SmemDescriptorFormat format = SmemDescriptorFormat::tcgen05;  // decides version and swizzle codes
  uint32_t start = 0;                                           // byte address, multiple of 16, < 2^18
  uint32_t lbo = 0;                                             // leading-dimension byte offset, multiple of 16
  uint32_t sbo = 0;                                             // stride-dimension byte offset, multiple of 16
  uint8_t base_offset = 0;                                      // row phase of the swizzle pattern, 0 in all known code
  uint8_t version = 1;                                          // tcgen05: constant 0b001
  bool lbo_absolute = false;                                    // tcgen05, sm_103a only: lbo is the address at which rows that cross the swizzle span continue
  uint8_t swizzle_code = 0;                                     // as stored: tcgen05 3 bits, wgmma 2 bits
  uint64_t reserved = 0;                                        // 0 in a legal one

  /// Returns the swizzle; nothing for the undefined codes 3, 5 and 7.
  constexpr std::optional<Swizzle> swizzle() const;
  /// Sets the code of `s`; returns false, without a change, if the format has no code for it.
  constexpr bool set_swizzle(Swizzle s);
  /// The 64-bit word.
  uint64_t encode() const;
  /// Returns a descriptor of these byte values with the constants of its format. Throws InputError E1401 if the format
  /// has no code for `s`.
  static constexpr SmemDescriptor make(uint32_t start, uint32_t lbo, uint32_t sbo, Swizzle s,
                                       SmemDescriptorFormat format = SmemDescriptorFormat::tcgen05);
  /// The fields of a word.
  static SmemDescriptor decode(uint64_t word, SmemDescriptorFormat format = SmemDescriptorFormat::tcgen05);
  bool operator==(const SmemDescriptor&) const = default;
};

constexpr std::optional<Swizzle> SmemDescriptor::swizzle() const {
  if (format == SmemDescriptorFormat::wgmma) {
    constexpr Swizzle kModes[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
    return kModes[swizzle_code & 3];
  }
  switch (swizzle_code) {
    case 0: return Swizzle::none;
    case 1: return Swizzle::b128_atom32;
    case 2: return Swizzle::b128;
    case 4: return Swizzle::b64;
    case 6: return Swizzle::b32;
    default: return std::nullopt;
  }
}

constexpr bool SmemDescriptor::set_swizzle(Swizzle s) {
  const uint8_t old = swizzle_code;
  for (uint8_t code = 0; code < (format == SmemDescriptorFormat::wgmma ? 4 : 8); ++code) {
    swizzle_code = code;
    if (swizzle() == s) {
      return true;
    }
  }
  swizzle_code = old;
  return false;
}

constexpr SmemDescriptor SmemDescriptor::make(uint32_t start, uint32_t lbo, uint32_t sbo, Swizzle s,
                                              SmemDescriptorFormat format) {
  SmemDescriptor d;
  d.format = format;
  d.start = start;
  d.lbo = lbo;
  d.sbo = sbo;
  d.version = format == SmemDescriptorFormat::tcgen05 ? 1 : 0;
  if (!d.set_swizzle(s)) {
    throw InputError(Code::E1401, "SMEM descriptor: the format has no code for this swizzle");
  }
  return d;
}

/// Storage form of one operand element (docs/facts/tcgen05.md §8). container4/6: the f8f6f4 kinds keep 16 elements in each 16-byte
/// unit, data first, padding after; packed4: mxf4 and mxf4nvf4, two elements per byte, low nibble first.
enum class SmemElement : uint8_t {
  packed4,
  container4,
  container6,
  byte,
  half,
  word
};

/// Address bits of one element: a container counts as a whole byte.
constexpr unsigned storage_bits(SmemElement e) {
  switch (e) {
    case SmemElement::packed4: return 4;
    case SmemElement::half: return 16;
    case SmemElement::word: return 32;
    default: return 8;
  }
}

/// Bits of the value itself.
constexpr unsigned value_bits(SmemElement e) {
  switch (e) {
    case SmemElement::packed4:
    case SmemElement::container4: return 4;
    case SmemElement::container6: return 6;
    default: return storage_bits(e);
  }
}

/// One operand of one MMA in one CTA: `mn` rows of `k` stored elements.
struct OperandTile {
  Major major = Major::k;                   // contiguous direction
  SmemElement element = SmemElement::half;  // as stored
  uint32_t mn = 0, k = 0;                   // elements

  /// Number of lines, which are contiguous in memory: rows when K-major, k when MN-major.
  constexpr uint32_t lines() const { return major == Major::k ? mn : k; }
  /// Number of 16-byte chunks of one line; the last may be partly used.
  constexpr uint32_t chunks_per_line() const {
    return static_cast<uint32_t>(ceil_div(uint64_t{major == Major::k ? k : mn} * storage_bits(element), 128));
  }
  /// Number of 16-byte chunks of the tile.
  constexpr uint32_t chunks() const { return lines() * chunks_per_line(); }
};

/// Physical address of logical address `address`: the XOR takes its row from the address minus `base_offset` 128-byte lines.
/// Measured for wgmma (H200: three swizzles, all starts and base offsets, tests/isa/smem_descriptor_test.cpp); assumed for
/// tcgen05, because PTX ISA 9.7.16.4.1 describes the field in the same way.
constexpr uint32_t swizzled_address(const SmemDescriptor& d, uint32_t address) {
  const uint32_t from_pattern = address - d.base_offset * 128u;
  return address ^ from_pattern ^ swizzle_address(d.swizzle().value_or(Swizzle::none), from_pattern);
}

/// Offset of chunk `chunk` of line `line` of a K-major operand with an absolute leading-dimension address: chunks within the swizzle
/// span count from `start`, those behind it from `lbo` on (docs/facts/tcgen05.md §4.6). K = 96 of sm_103a has rows of 48 bytes.
constexpr uint32_t absolute_chunk_address(const SmemDescriptor& d, uint32_t span, uint32_t line, uint32_t chunk) {
  const uint32_t from_row = d.start % span + chunk * 16, rows = line % 8 * span + line / 8 * d.sbo;
  return from_row < span ? d.start + rows + chunk * 16 : d.lbo + rows + from_row - span;
}

/// Address of 16-byte chunk `chunk` of line `line`, swizzled and wrapped at 18 bits; independent of the element type
/// (docs/facts/tcgen05.md §4.6). Undefined swizzle codes count as no swizzle: run `check` first.
constexpr uint32_t operand_chunk_address(const SmemDescriptor& d, Major major, uint32_t line,
                                         uint32_t chunk) {
  const Swizzle mode = d.swizzle().value_or(Swizzle::none);
  const uint32_t span = swizzle_span(mode);
  const uint32_t group = mode == Swizzle::b128_atom32 && major == Major::mn ? 4 : 8;  // lines per repeat
  uint32_t offset = 0;
  if (d.lbo_absolute && span != 0 && major == Major::k) {
    return swizzled_address(d, absolute_chunk_address(d, span, line, chunk) & kSmemDescriptorAddressMask);
  }
  if (major == Major::k) {
    offset = span == 0 ? line % 8 * 16 + line / 8 * d.sbo + chunk * d.lbo
                       : line % 8 * span + line / 8 * d.sbo + chunk * 16;
  } else {
    offset = span == 0
                 ? chunk * d.sbo + line % 8 * 16 + line / 8 * d.lbo
                 : chunk * 16 % span + chunk * 16 / span * d.lbo + line % group * span + line / group * d.sbo;
  }
  return swizzled_address(d, (d.start + offset) & kSmemDescriptorAddressMask);
}

/// Position of an element's lowest bit. A 6-bit element may continue in the next byte.
struct OperandPlace {
  uint32_t byte = 0;  // address in shared memory
  uint8_t bit = 0;    // 0 to 7 in that byte
  constexpr bool operator==(const OperandPlace&) const = default;
};

/// Place of stored element (mn, k); for sparse A, k counts compressed elements.
constexpr OperandPlace operand_address(const SmemDescriptor& d, Major major, SmemElement element, uint32_t mn,
                                       uint32_t k) {
  const uint32_t along = major == Major::k ? k : mn;
  const uint32_t per_chunk = 128 / storage_bits(element);
  const uint32_t chunk = operand_chunk_address(d, major, major == Major::k ? mn : k, along / per_chunk);
  const uint32_t width = element == SmemElement::packed4 ? 4 : value_bits(element);
  const uint32_t bit = along % per_chunk * width;
  return {chunk + bit / 8, static_cast<uint8_t>(bit % 8)};
}

/// Addresses of all chunks of a tile: out[line * chunks_per_line + chunk] = operand_chunk_address(…). Throws
/// InternalError if `out` has fewer than tile.chunks() entries.
void operand_row_chunks(const SmemDescriptor& d, const OperandTile& tile, std::span<uint32_t> out);

/// Reports rules of the descriptor alone (docs/facts/tcgen05.md §9 D1, D2 alignment, D3): E1401 undefined swizzle code, E1402 reserved
/// bits, E1403 version (warning), E1404 unaligned or too large, E1405 absolute LBO where it does not exist (`sm103`: it does).
void check(const SmemDescriptor& d, Diagnostics& out, const SourcePos& where = {}, bool sm103 = false);

/// Reports rules of the descriptor with its operand (D2 pattern base, D4, table of type/major/swizzle): E1405 absolute LBO with an
/// operand that cannot have it, E1406 row phase (warning), E1407 reads outside the CTA's `smem_bytes`, E1408 swizzle illegal for the element and major, E1409 wraps
/// at 18 bits (warning), E1410 rows cross the swizzle span (warning); U5402 K-major 128B/32B-atom.
void check_operand(const SmemDescriptor& d, const OperandTile& tile, uint32_t smem_bytes, Diagnostics& out,
                   const SourcePos& where = {});

/// Each field with its bits and meaning.
std::vector<FieldNote> explain(const SmemDescriptor& d);

}  // namespace drywell::isa
