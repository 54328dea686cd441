// Host references: a decoded number, and the rounding of a tensor core's f32 result. Private to kernels/reference.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace drywell::kernels::reference {

enum class NumberClass : uint8_t {
  zero,
  finite,
  infinite,
  nan
};

/// (-1)^negative * significand * 2^lsb; `raw` is the exponent of the encoding, max(field, 1) - bias, which
/// aligns sums.
struct Number {
  NumberClass kind = NumberClass::zero;
  bool negative = false;
  uint32_t significand = 0;
  int lsb = 0, raw = 0;
  constexpr bool is_special() const { return kind == NumberClass::nan || kind == NumberClass::infinite; }
};

/// Meaning of the largest exponent.
enum class Specials : uint8_t {
  none,
  all_ones,
  ieee
};

/// sign | exponent | fraction, most significant first.
struct NumberLayout {
  unsigned exponent_bits, fraction_bits;
  int bias;
  bool is_signed;
  Specials specials;
};
inline constexpr NumberLayout kFloat32{8, 23, 127, true, Specials::ieee},
    kBfloat16{8, 7, 127, true, Specials::ieee};

constexpr Number take_apart(const NumberLayout& l, uint32_t code) {
  const uint32_t top = (1u << l.exponent_bits) - 1, ones = (1u << l.fraction_bits) - 1;
  const uint32_t field = code >> l.fraction_bits & top, fraction = code & ones;
  Number n;
  n.negative = l.is_signed && (code >> (l.exponent_bits + l.fraction_bits) & 1) != 0;
  n.raw = static_cast<int>(std::max(field, 1u)) - l.bias;
  n.lsb = n.raw - static_cast<int>(l.fraction_bits);
  n.significand = field == 0 ? fraction : fraction | (ones + 1);
  n.kind = n.significand == 0 ? NumberClass::zero : NumberClass::finite;
  if (l.specials == Specials::all_ones && field == top && fraction == ones) n.kind = NumberClass::nan;
  if (l.specials == Specials::ieee && field == top)
    n.kind = fraction == 0 ? NumberClass::infinite : NumberClass::nan;
  return n;
}

inline constexpr float kNan = std::bit_cast<float>(0x7FFFFFFFu);

/// Step 1 of a fused sum: the result of NaNs and infinities, before any arithmetic (docs/facts/numerics.md §3.1).
class SpecialSum {
 public:
  void add_nan() { nan_ = true; }
  void add(float c) { add_term(take_apart(kFloat32, std::bit_cast<uint32_t>(c))); }
  void add_product(const Number& x, const Number& y) {
    Number product{std::max(x.kind, y.kind), x.negative != y.negative, 0, 0, 0};
    if (product.kind == NumberClass::infinite && std::min(x.kind, y.kind) == NumberClass::zero)
      product.kind = NumberClass::nan;
    add_term(product);
  }
  bool decided() const { return nan_ || plus_ || minus_; }
  float result() const {
    if (nan_ || (plus_ && minus_)) return kNan;
    return plus_ ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  }

 private:
  void add_term(const Number& n) {
    nan_ = nan_ || n.kind == NumberClass::nan;
    if (n.kind == NumberClass::infinite) (n.negative ? minus_ : plus_) = true;
  }
  bool nan_ = false, plus_ = false, minus_ = false;
};

/// Step 5: truncates |sum| * 2^quantum to f32: 24 bits (Hopper's fp8: 14), the subnormals' multiples, infinity from 2^128 on.
inline float round_toward_zero(int64_t sum, int quantum, int significant = 24) {
  if (sum == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(sum));
  const int drop = std::max({static_cast<int>(std::bit_width(magnitude)) - significant, -125 - significant - quantum, 0});
  const uint64_t kept = drop > 63 ? 0 : magnitude >> drop;
  if (kept == 0) return 0;  // a negative sum that vanishes is +0 as well
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(quantum + drop + 1023) << 52);
  const double value = static_cast<double>(kept) * unit;
  const float result = value >= 0x1p128 ? std::numeric_limits<float>::infinity() : static_cast<float>(value);
  return sum < 0 ? -result : result;
}

}  // namespace drywell::kernels::reference
