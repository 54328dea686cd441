#include "drywell/isa/smem_descriptor.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"

namespace drywell::isa {
namespace {

using StartField = BitField<0, 14>;
using LboField = BitField<16, 14>;
using SboField = BitField<32, 14>;
using BaseField = BitField<49, 3>;
// tcgen05 only
using VersionField = BitField<46, 3>;
using LboModeField = BitField<52, 1>;
using SwizzleField = BitField<61, 3>;
// wgmma only
using WgmmaSwizzleField = BitField<62, 2>;

constexpr uint64_t kCommon = StartField::kMask | LboField::kMask | SboField::kMask | BaseField::kMask;
constexpr uint64_t kTcgen05Fields = kCommon | VersionField::kMask | LboModeField::kMask | SwizzleField::kMask;
constexpr uint64_t kWgmmaFields = kCommon | WgmmaSwizzleField::kMask;

bool is_wgmma(const SmemDescriptor& d) { return d.format == SmemDescriptorFormat::wgmma; }

std::string_view name_of(SmemElement e) {
  switch (e) {
    case SmemElement::packed4: return "packed 4-bit";
    case SmemElement::container4: return "4-bit";
    case SmemElement::container6: return "6-bit";
    case SmemElement::byte: return "8-bit";
    case SmemElement::half: return "16-bit";
    case SmemElement::word: return "32-bit";
  }
  return "?";
}

// PTX ISA table of type size, major-ness and swizzle (docs/facts/tcgen05.md §4.6).
void check_legal_swizzle(Swizzle mode, const OperandTile& tile, Diagnostics& out, const SourcePos& where) {
  if (tile.major == Major::k) {
    if (mode == Swizzle::b128_atom32) {
      out.error(Code::U5402, where, "K-major operand with the 128B swizzle of 32-byte atoms is not modelled",
                "use swizzle code 2 (128B)");
    }
    return;
  }
  const bool atom32 = mode == Swizzle::b128_atom32;
  switch (tile.element) {
    case SmemElement::packed4:
    case SmemElement::container4:
    case SmemElement::container6:
      out.error(Code::E1408, where, fmt::format("{} elements cannot be MN-major", name_of(tile.element)),
                "clear the transpose bit of the instruction descriptor and store the operand K-major");
      break;
    case SmemElement::word:
      if (!atom32) {
        out.error(Code::E1408, where,
                  fmt::format("MN-major 32-bit elements need the 128B swizzle of 32-byte atoms, not {}",
                              to_string(mode)),
                  "use swizzle code 1");
      }
      break;
    case SmemElement::byte:
    case SmemElement::half:
      if (atom32) {
        out.error(Code::E1408, where,
                  fmt::format("MN-major {} elements cannot use the 128B swizzle of 32-byte atoms",
                              name_of(tile.element)),
                  "use swizzle code 2 (128B)");
      }
      break;
  }
}

// While the base offset is 0, the bits of the start address that choose the row of the pattern must be 0
// (docs/facts/tcgen05.md §4.6).
void check_phase(const SmemDescriptor& d, Swizzle mode, const OperandTile& tile, Diagnostics& out,
                 const SourcePos& where) {
  if (mode == Swizzle::none) {
    return;
  }
  // An operand steps through 8 rows of the span (4 of the 32-byte-atom mode) before it repeats.
  const uint32_t pattern = mode == Swizzle::b128_atom32 ? 512 : 8 * swizzle_span(mode);
  const uint32_t phase = d.start % pattern / swizzle_span(mode);
  if (phase != 0 && d.base_offset == 0) {
    out.warning(
        Code::E1406, where,
        fmt::format(
            "start address {:#x} is {} rows inside the {}-byte pattern of the {} swizzle, base offset 0",
            d.start, phase, pattern, to_string(mode)),
        fmt::format("align the operand's base to {} bytes", pattern));
  }
  const uint32_t row_bytes = tile.chunks_per_line() * 16;
  if (d.lbo_absolute) return;
  if (tile.major == Major::k && d.start % swizzle_span(mode) + row_bytes > swizzle_span(mode)) {
    out.warning(Code::E1410, where,
                fmt::format("a row of {} bytes from offset {} crosses the {}-byte swizzle span", row_bytes,
                            d.start % swizzle_span(mode), swizzle_span(mode)),
                "step the start address by 32 bytes inside the span only");
  }
}

// The mode exists for rows of 48 bytes only (K = 96), K-major with the 128-byte swizzle and no base offset
// (docs/facts/tcgen05.md §4.6).
void check_absolute(const SmemDescriptor& d, Swizzle mode, const OperandTile& tile, Diagnostics& out, const SourcePos& where) {
  if (!d.lbo_absolute) return;
  if (tile.major == Major::k && mode == Swizzle::b128 && d.base_offset == 0 && tile.chunks_per_line() == 3) return;
  out.error(Code::E1405, where, "SMEM descriptor: absolute leading-dimension mode (bit 52) with another operand than one of K=96",
            "it needs a K-major operand with rows of 48 bytes, the 128B swizzle and base offset 0");
}

// End of the highest row of an operand with an absolute leading-dimension address.
uint64_t absolute_end(const SmemDescriptor& d, Swizzle mode, const OperandTile& tile) {
  const uint64_t span = swizzle_span(mode), line = tile.lines() - 1;
  if (span == 0) return 0;  // refused by check_absolute
  const uint64_t rows = std::min<uint64_t>(line, 7) * span + line / 8 * d.sbo;
  return std::max<uint64_t>(round_up(uint64_t{d.start} + 1, span), d.lbo + span) + rows;
}

// End of the chunk at the highest address, before the wrap and the swizzle.
uint64_t unwrapped_end(const SmemDescriptor& d, Swizzle mode, const OperandTile& tile) {
  const uint64_t line = tile.lines() - 1, chunk = tile.chunks_per_line() - 1, span = swizzle_span(mode);
  const uint64_t group = mode == Swizzle::b128_atom32 && tile.major == Major::mn ? 4 : 8;
  const uint64_t first = span == 0 ? 16 : span;
  const uint64_t rows = std::min<uint64_t>(line, group - 1) * first;
  if (tile.major == Major::k) {
    return d.start + rows + line / 8 * d.sbo + chunk * (span == 0 ? d.lbo : 16) + 16;
  }
  if (span == 0) {
    return d.start + rows + line / 8 * d.lbo + chunk * d.sbo + 16;
  }
  return d.start + rows + line / group * d.sbo + chunk * 16 / span * d.lbo + chunk * 16 % span + 16;
}

}  // namespace

SmemDescriptor SmemDescriptor::decode(uint64_t word, SmemDescriptorFormat format) {
  SmemDescriptor d;
  d.format = format;
  d.start = static_cast<uint32_t>(StartField::get(word) << 4);
  d.lbo = static_cast<uint32_t>(LboField::get(word) << 4);
  d.sbo = static_cast<uint32_t>(SboField::get(word) << 4);
  d.base_offset = static_cast<uint8_t>(BaseField::get(word));
  if (format == SmemDescriptorFormat::wgmma) {
    d.version = 0;
    d.swizzle_code = static_cast<uint8_t>(WgmmaSwizzleField::get(word));
    d.reserved = word & ~kWgmmaFields;
  } else {
    d.version = static_cast<uint8_t>(VersionField::get(word));
    d.lbo_absolute = LboModeField::get(word) != 0;
    d.swizzle_code = static_cast<uint8_t>(SwizzleField::get(word));
    d.reserved = word & ~kTcgen05Fields;
  }
  return d;
}

uint64_t SmemDescriptor::encode() const {
  uint64_t w = reserved & ~(is_wgmma(*this) ? kWgmmaFields : kTcgen05Fields);
  w = StartField::set(w, start >> 4);
  w = LboField::set(w, lbo >> 4);
  w = SboField::set(w, sbo >> 4);
  w = BaseField::set(w, base_offset);
  if (is_wgmma(*this)) {
    return WgmmaSwizzleField::set(w, swizzle_code);
  }
  w = VersionField::set(w, version);
  w = LboModeField::set(w, lbo_absolute);
  return SwizzleField::set(w, swizzle_code);
}

void operand_row_chunks(const SmemDescriptor& d, const OperandTile& tile, std::span<uint32_t> out) {
  DRYWELL_CHECK(out.size() >= tile.chunks(), "operand_row_chunks: output too small");
  if (d.lbo_absolute) {
    for (uint32_t i = 0; i < tile.chunks(); ++i) out[i] = operand_chunk_address(d, tile.major, i / tile.chunks_per_line(), i % tile.chunks_per_line());
    return;
  }
  const Swizzle mode = d.swizzle().value_or(Swizzle::none);
  const uint32_t span = swizzle_span(mode), pitch = span == 0 ? 16 : span;
  const bool k_major = tile.major == Major::k;
  const uint32_t group = mode == Swizzle::b128_atom32 && !k_major ? 4 : 8;
  // Step from one group of lines to the next: only MN-major without a swizzle exchanges the two strides.
  const uint32_t group_step = !k_major && span == 0 ? d.lbo : d.sbo;
  // A line has runs of `run` adjacent chunks, `run_step` bytes apart.
  const uint32_t per_line = tile.chunks_per_line();
  const uint32_t run = span == 0 ? 1 : k_major ? per_line
                                               : span / 16;
  const uint32_t run_step = !k_major && span == 0 ? d.sbo : d.lbo;
  constexpr uint32_t kMaxChunks = 64;  // 256 elements of 4 bytes
  DRYWELL_CHECK(per_line <= kMaxChunks, "operand_row_chunks: line too long");
  std::array<uint32_t, kMaxChunks> along{};
  for (uint32_t c = 0; c < per_line; ++c) {
    along[c] = c % run * 16 + c / run * run_step;
  }
  const SwizzleXor swizzled = swizzle_xor(mode);
  const uint32_t phase = d.base_offset * 128u;
  // A group step that is a multiple of the largest swizzle pattern, or any step without a swizzle, keeps the
  // addresses within a group.
  constexpr uint32_t kPattern = 1024, kMaxGroup = 8;
  const bool repeats = (span == 0 || group_step % kPattern == 0) && unwrapped_end(d, mode, tile) <= kSmemDescriptorAddressMask;
  std::array<uint32_t, kMaxGroup * kMaxChunks> first;
  const auto group_chunks = [&](uint32_t base, uint32_t lines, uint32_t* next) {
    for (uint32_t r = 0; r < lines; ++r) {
      for (uint32_t c = 0; c < per_line; ++c) {
        // as swizzled_address, with one lookup of the mode
        const uint32_t address = (base + r * pitch + along[c]) & kSmemDescriptorAddressMask, from_pattern = address - phase;
        *next++ = address ^ from_pattern ^ swizzled(from_pattern);
      }
    }
  };
  group_chunks(d.start, group, first.data());
  uint32_t* next = out.data();
  for (uint32_t line = 0, base = d.start; line < tile.lines(); line += group, base += group_step) {
    const uint32_t lines = std::min(group, tile.lines() - line), count = lines * per_line;
    if (repeats) {
      // Four at a time, so that the compiler uses vector instructions.
      const uint32_t step = base - d.start;
      uint32_t i = 0;
      for (; i + 4 <= count; i += 4) {
        const std::array<uint32_t, 4> four = {first[i] + step, first[i + 1] + step, first[i + 2] + step, first[i + 3] + step};
        std::copy(four.begin(), four.end(), next + i);
      }
      for (; i < count; ++i) next[i] = first[i] + step;
    } else {
      group_chunks(base, lines, next);
    }
    next += count;
  }
}

void check(const SmemDescriptor& d, Diagnostics& out, const SourcePos& where, bool sm103) {
  if (!d.swizzle()) {
    out.error(Code::E1401, where,
              fmt::format("SMEM descriptor: swizzle code {} (bits 63..61) is undefined", d.swizzle_code),
              "0 none, 1 128B with 32-byte atoms, 2 128B, 4 64B, 6 32B");
  }
  if (d.reserved != 0) {
    out.error(Code::E1402, where, fmt::format("SMEM descriptor: reserved bits are set ({:#018x})", d.reserved),
              is_wgmma(d) ? "this layout is wgmma's; tcgen05 keeps its swizzle in bits 63..61"
                          : "bits 15..14, 31..30 and 60..53 must be 0");
  }
  if (!is_wgmma(d) && d.version != 1) {
    out.warning(Code::E1403, where,
                fmt::format("SMEM descriptor: bits 48..46 are {}, PTX asks for 0b001", d.version),
                "a descriptor built for wgmma lacks this constant");
  }
  const auto aligned = [&](uint32_t v, std::string_view name) {
    if (v % 16 != 0 || v > kSmemDescriptorAddressMask) {
      out.error(Code::E1404, where, fmt::format("SMEM descriptor: {} {:#x} cannot be encoded", name, v),
                "it must be a multiple of 16 bytes below 256 KiB");
    }
  };
  aligned(d.start, "start address");
  aligned(d.lbo, "leading-dimension byte offset");
  aligned(d.sbo, "stride-dimension byte offset");
  if (d.lbo_absolute && !sm103) {
    out.error(Code::E1405, where,
              "SMEM descriptor: absolute leading-dimension mode (bit 52) exists on sm_103a only",
              "clear bit 52");
  }
}

void check_operand(const SmemDescriptor& d, const OperandTile& tile, uint32_t smem_bytes, Diagnostics& out,
                   const SourcePos& where) {
  const std::optional<Swizzle> mode = d.swizzle();
  if (!mode || tile.chunks() == 0) {
    return;
  }
  check_legal_swizzle(*mode, tile, out, where);
  check_absolute(d, *mode, tile, out, where);
  check_phase(d, *mode, tile, out, where);
  const uint64_t end = d.lbo_absolute ? absolute_end(d, *mode, tile) : unwrapped_end(d, *mode, tile);
  if (end > kSmemDescriptorAddressMask + uint64_t{1}) {
    out.warning(Code::E1409, where, fmt::format("operand ends at {:#x} and wraps at 256 KiB", end),
                "check LBO and SBO");
  }
  // A swizzle moves bytes inside lines of 128.
  if (round_up(end, uint64_t{128}) <= smem_bytes) return;
  std::vector<uint32_t> chunks(tile.chunks());
  operand_row_chunks(d, tile, chunks);
  for (uint32_t a : chunks) {
    if (uint64_t{a} + 16 > smem_bytes) {
      out.error(Code::E1407, where,
                fmt::format("operand reads SMEM address {:#x}, the CTA has {:#x} bytes", a, smem_bytes),
                "check start address, LBO and SBO of the SMEM descriptor");
      return;
    }
  }
}

std::vector<FieldNote> explain(const SmemDescriptor& d) {
  const std::optional<Swizzle> mode = d.swizzle();
  const std::string swizzle(mode ? to_string(*mode) : "undefined");
  std::vector<FieldNote> n = {
      {13, 0, "start address", d.start >> 4, fmt::format("byte address {:#x}", d.start)},
      {29, 16, "leading-dimension byte offset", d.lbo >> 4, fmt::format("{} bytes", d.lbo)},
      {45, 32, "stride-dimension byte offset", d.sbo >> 4, fmt::format("{} bytes", d.sbo)},
  };
  if (!is_wgmma(d)) {
    n.push_back({48, 46, "version", d.version, d.version == 1 ? "sm_100" : "not 0b001"});
  }
  n.push_back({51, 49, "base offset", d.base_offset, d.base_offset == 0 ? "pattern aligned" : "row phase"});
  if (is_wgmma(d)) {
    n.push_back({63, 62, "swizzle", d.swizzle_code, swizzle});
  } else {
    n.push_back({52, 52, "leading-dimension mode", d.lbo_absolute,
                 d.lbo_absolute ? "absolute address" : "byte offset"});
    n.push_back({63, 61, "swizzle", d.swizzle_code, swizzle});
  }
  return n;
}

}  // namespace drywell::isa
