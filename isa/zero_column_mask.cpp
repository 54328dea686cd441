// The zero-column-mask descriptor of tcgen05.mma.ws (docs/facts/tcgen05.md §4.8; PTX ISA 9.7.16.4.3).
#include <algorithm>

#include "drywell/core/bits.h"
#include "drywell/isa/instr_descriptor.h"
#include "fmt/format.h"

namespace drywell::isa {
namespace {

using NonZero = BitField<39, 1>;
using SkipSpan = BitField<40, 8>;
using UseSpan = BitField<48, 8>;
using Shift = BitField<56, 6>;
constexpr uint64_t kStartCounts = 0xFFFFFFFF, kFirstSpans = uint64_t{0xF} << 32;
constexpr uint64_t kFields =
    kStartCounts | kFirstSpans | NonZero::kMask | SkipSpan::kMask | UseSpan::kMask | Shift::kMask;

}  // namespace

ZeroColumnMask ZeroColumnMask::decode(uint64_t w) {
  ZeroColumnMask z;
  for (unsigned i = 0; i < 4; ++i) {
    z.start_count[i] = static_cast<uint8_t>(w >> (8 * i));
    z.first_zeroed[i] = (w >> (32 + i) & 1) != 0;
  }
  z.generate = NonZero::get(w) != 0;
  z.skip_span = static_cast<uint8_t>(SkipSpan::get(w));
  z.use_span = static_cast<uint8_t>(UseSpan::get(w));
  z.column_shift = static_cast<uint8_t>(Shift::get(w));
  z.reserved = w & ~kFields;
  return z;
}

uint64_t ZeroColumnMask::encode() const {
  uint64_t w = reserved & ~kFields;
  for (unsigned i = 0; i < 4; ++i) {
    w |= uint64_t{start_count[i]} << (8 * i) | uint64_t{first_zeroed[i]} << (32 + i);
  }
  w = NonZero::set(w, generate);
  w = SkipSpan::set(w, skip_span);
  w = UseSpan::set(w, use_span);
  return Shift::set(w, column_shift);
}

void zeroed_columns(const ZeroColumnMask& mask, unsigned m, std::span<uint8_t> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  if (!mask.generate) {
    return;
  }
  const size_t parts = zero_mask_parts(m), width = out.size() / parts;
  const unsigned used = mask.use_span + 1u, zeroed = mask.skip_span + 1u;
  for (size_t p = 0; p < parts; ++p) {
    bool zero = mask.first_zeroed[p];
    const unsigned first = zero ? zeroed : used;
    // The start count saturates: the first run keeps at least one column (docs/facts/tcgen05.md §4.8).
    unsigned left = first - std::min<unsigned>(mask.start_count[p], first - 1);
    for (size_t c = 0; c < width; ++c) {
      out[p * width + c] = zero;
      if (--left == 0) {
        zero = !zero;
        left = zero ? zeroed : used;
      }
    }
  }
}

void check(const ZeroColumnMask& mask, const InstrDescriptor& d, Diagnostics& out, const SourcePos& where) {
  if (mask.reserved != 0) {
    out.error(Code::E1421, where,
              fmt::format("zero-column mask: reserved bits are set ({:#018x})", mask.reserved));
  }
  const unsigned by_shape = d.m == 32 ? 16 : 32;
  const unsigned by_descriptor = d.max_shift == 0 ? 0 : 4u << d.max_shift;
  if (mask.column_shift > std::min(by_shape, by_descriptor)) {
    out.error(
        Code::E1431, where,
        fmt::format("zero-column mask: column shift {} exceeds {}", mask.column_shift,
                    mask.column_shift > by_shape
                        ? fmt::format("{}, the limit for M={}", by_shape, d.m)
                        : fmt::format("the maximum shift {} of the instruction descriptor", by_descriptor)),
        "raise bits 31..30 of the instruction descriptor or shift less");
  }
}

}  // namespace drywell::isa
