#include "kernels/reference/fused_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace drywell::kernels::reference {
namespace {

constexpr int kWindowBits = 25;
constexpr int kWindowFloor = -133;

/// (-1)^negative * significand * 2^lsb; `raw` is the exponent of the encoding, which aligns the sum.
struct Finite {
  bool negative;
  int64_t significand;
  int lsb;
  int raw;
};

enum class Class { zero, finite, infinite, nan };

/// A number of an 8-bit exponent format with `fraction_bits` fraction bits.
struct Number {
  Class kind;
  Finite value;
};

Number decode(uint32_t bits, int fraction_bits) {
  const bool negative = (bits >> (fraction_bits + 8)) & 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & 0xFF;
  const int64_t fraction = bits & ((1u << fraction_bits) - 1);
  if (exponent == 0xFF) return {fraction != 0 ? Class::nan : Class::infinite, {negative, 0, 0, 0}};
  if (exponent == 0 && fraction == 0) return {Class::zero, {negative, 0, 0, 0}};
  const int raw = std::max(exponent, 1) - 127;
  const int64_t significand = exponent == 0 ? fraction : fraction | (int64_t{1} << fraction_bits);
  return {Class::finite, {negative, significand, raw - fraction_bits, raw}};
}

/// Truncates |sum| * 2^quantum to f32: 24 bits, multiples of 2^-149, infinity from 2^128 on.
float round_toward_zero(int64_t sum, int quantum) {
  if (sum == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(sum));
  const int drop = std::max({static_cast<int>(std::bit_width(magnitude)) - 24, -149 - quantum, 0});
  const uint64_t kept = drop > 63 ? 0 : magnitude >> drop;
  if (kept == 0) return 0;  // a negative sum that vanishes gives +0 as well
  const double value = std::ldexp(static_cast<double>(kept), quantum + drop);
  const float result = value >= 0x1p128 ? std::numeric_limits<float>::infinity() : static_cast<float>(value);
  return sum < 0 ? -result : result;
}

}  // namespace

float fused_dot_bf16(std::span<const uint16_t> a, std::span<const uint16_t> b, float c) {
  const float nan = std::bit_cast<float>(0x7FFFFFFFu);
  bool any_nan = false, plus_infinity = false, minus_infinity = false;
  std::vector<Finite> terms;
  const auto add = [&](Class kind, const Finite& term) {
    any_nan = any_nan || kind == Class::nan;
    if (kind == Class::infinite) (term.negative ? minus_infinity : plus_infinity) = true;
    if (kind == Class::finite) terms.push_back(term);  // zero products do not take part in the window
  };
  for (size_t k = 0; k < a.size(); ++k) {
    const Number x = decode(a[k], 7), y = decode(b[k], 7);
    Class kind = std::max(x.kind, y.kind);
    if (kind != Class::nan && std::min(x.kind, y.kind) == Class::zero) {
      kind = kind == Class::infinite ? Class::nan : Class::zero;
    }
    add(kind, {x.value.negative != y.value.negative, x.value.significand * y.value.significand,
               x.value.lsb + y.value.lsb, x.value.raw + y.value.raw});
  }
  const Number start = decode(std::bit_cast<uint32_t>(c), 23);
  add(start.kind, start.value);
  if (any_nan || (plus_infinity && minus_infinity)) return nan;
  if (plus_infinity) return std::numeric_limits<float>::infinity();
  if (minus_infinity) return -std::numeric_limits<float>::infinity();

  int top = kWindowFloor;
  for (const Finite& t : terms) top = std::max(top, t.raw);
  const int quantum = top - kWindowBits;
  int64_t sum = 0;
  for (const Finite& t : terms) {
    const int shift = t.lsb - quantum;
    const int64_t aligned = shift >= 0 ? t.significand << shift : shift <= -63 ? 0 : t.significand >> -shift;
    sum += t.negative ? -aligned : aligned;
  }
  return round_toward_zero(sum, quantum);
}

}  // namespace drywell::kernels::reference
