// Narrow floats as values of C++: bf16, f16, fp8, fp6, fp4 and the formats of scales. `bf16(1.5f)` rounds, `float(x)` is exact.
//
//   std::vector<numeric::bf16> a(n, numeric::bf16(1.0f));
//   device.write(da, a.data(), a.size() * sizeof(numeric::bf16));
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

/// One number of a format, in a byte or in two. A value: any threads may read one at the same time. Codes of 4 and 6 bits have a byte
/// of their own here; `packed` puts them as memory has them.
template <Format F>
class Narrow {
 public:
  using Code = std::conditional_t<(format_info(F).bits() > 8), uint16_t, uint8_t>;  // holds the bits
  static constexpr Format kFormat = F;                                              // the number's format

  constexpr Narrow() = default;
  /// Rounds as cvt.rn.satfinite does (formats of 16 bits: as cvt.rn does, so that an overflow is infinite). ue8m0: rounds up to a power of two.
  explicit Narrow(float value) : code_(static_cast<Code>(convert(kFromFloat, std::bit_cast<uint32_t>(value)))) {}
  /// The number with that code.
  static constexpr Narrow of_code(Code code) {
    Narrow n;
    n.code_ = code;
    return n;
  }
  /// The number's bits.
  constexpr Code code() const { return code_; }
  /// Exact.
  explicit operator float() const { return to_float(F, code_); }
  /// Compares codes: 0 and -0 differ, a NaN equals itself.
  constexpr bool operator==(const Narrow&) const = default;

 private:
  static constexpr ConvertSpec kFromFloat{.dst = F,
                                          .src = Format::f32,
                                          .rounding = F == Format::ue8m0 ? Rounding::rp : Rounding::rn,
                                          .satfinite = format_info(F).bits() <= 8};
  Code code_ = 0;
};

/// bfloat16.
using bf16 = Narrow<Format::bf16>;
/// IEEE half.
using f16 = Narrow<Format::f16>;
/// 8 bits, 4 of exponent, no infinity.
using e4m3 = Narrow<Format::e4m3>;
/// 8 bits, 5 of exponent, with infinities.
using e5m2 = Narrow<Format::e5m2>;
/// 6 bits, 2 of exponent.
using e2m3 = Narrow<Format::e2m3>;
/// 6 bits, 3 of exponent.
using e3m2 = Narrow<Format::e3m2>;
/// 4 bits, 2 of exponent.
using e2m1 = Narrow<Format::e2m1>;
/// A power of two: a scale of MX formats.
using ue8m0 = Narrow<Format::ue8m0>;

/// Returns the bytes of the numbers as memory has them: two e2m1 in a byte, the first in its low half; the others one after another.
/// An odd last e2m1 has a zero beside it.
template <Format F>
std::vector<uint8_t> packed(std::span<const Narrow<F>> numbers) {
  constexpr unsigned kBits = packed_bits(F);
  std::vector<uint8_t> out((numbers.size() * kBits + 7) / 8);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint32_t code = static_cast<uint32_t>(numbers[i].code()) << i * kBits % 8;
    out[i * kBits / 8] |= static_cast<uint8_t>(code);
    if (kBits == 16) out[i * 2 + 1] = static_cast<uint8_t>(code >> 8);
  }
  return out;
}

}  // namespace drywell::numeric
