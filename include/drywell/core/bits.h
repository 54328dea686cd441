// Bit fields of architectural words, each written once as (offset, width) and used by encoders, decoders and printers.
// All functions depend on their arguments only and may be called at the same time.
#pragma once

#include <bit>
#include <cstdint>

namespace drywell {

__extension__ typedef __int128 Int128;            // 128-bit integers of the compiler
__extension__ typedef unsigned __int128 UInt128;  // the same without a sign

/// A field of `Width` bits whose lowest bit is bit `Offset` of a word.
template <unsigned Offset, unsigned Width>
struct BitField {
  static_assert(Width >= 1 && Offset + Width <= 64);
  static constexpr unsigned kOffset = Offset, kWidth = Width;                                // in bits
  static constexpr uint64_t kMax = Width == 64 ? ~uint64_t{0} : (uint64_t{1} << Width) - 1;  // the largest value of the field
  static constexpr uint64_t kMask = kMax << Offset;                                          // the field's bits in the word

  /// The field's value.
  static constexpr uint64_t get(uint64_t word) { return (word >> Offset) & kMax; }
  /// The word with that value in the field; bits of `v` above the width are dropped.
  static constexpr uint64_t set(uint64_t word, uint64_t v) { return (word & ~kMask) | ((v & kMax) << Offset); }
  /// True if the field can hold `v`.
  static constexpr bool fits(uint64_t v) { return v <= kMax; }
};

/// The smallest multiple of `to` (not 0) that is not below `v`; wraps near 2^64 (sizes.h does not).
constexpr uint64_t round_up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }
/// a / b, rounded up; `b` is not 0.
constexpr uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
/// True if `v` is a multiple of `to`, which is not 0.
constexpr bool is_aligned(uint64_t v, uint64_t to) { return v % to == 0; }

/// Low `n` bits set; n may be 0..64.
constexpr uint64_t low_bits(unsigned n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Sign-extends the low `n` bits (1..64) of `v`.
constexpr int64_t sign_extend(uint64_t v, unsigned n) {
  return static_cast<int64_t>(v << (64 - n)) >> (64 - n);
}

}  // namespace drywell
