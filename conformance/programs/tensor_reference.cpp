#include "conformance/programs/tensor_reference.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace drywell::kernels::conformance {
namespace {

constexpr FloatFormat kFormats[] = {
    {"f32", 8, 23, 127, true},
    {"tf32", 8, 10, 127, true},
    {"bf16", 8, 7, 127, true},
    {"f16", 5, 10, 15, true},
    {"e5m2", 5, 2, 15, true},
    {"e4m3", 4, 3, 7, false, true},
    {"e2m3", 2, 3, 1},
    {"e3m2", 3, 2, 3},
    {"e2m1", 2, 1, 1},
    {"ue8m0", 8, 0, 127, false, true, false},
    {"ue4m3", 4, 3, 7, false, true, false},
};

// One addend before alignment: value = magnitude * 2^lsb.
struct Term {
  bool negative;
  int64_t magnitude;
  int lsb, raw;
};

// Truncates toward zero to a multiple of 2^quantum.
int64_t align(const Term& t, int quantum) {
  const int shift = t.lsb - quantum;
  int64_t m = 0;
  if (shift >= 0) {
    m = t.magnitude << shift;
  } else if (shift > -63) {
    m = t.magnitude >> -shift;
  }
  return t.negative ? -m : m;
}

// Converts magnitude * 2^lsb to f32, toward zero, except that overflow becomes infinity.
uint32_t to_f32(bool negative, uint64_t magnitude, int lsb) {
  const int top = std::bit_width(magnitude) - 1 + lsb;  // exponent of the leading bit
  const uint32_t sign = negative ? 0x80000000u : 0;
  if (top >= 128) return sign | 0x7F800000;
  const int unit = std::max(top - 23, -149);
  const uint64_t kept =
      unit >= lsb ? (unit - lsb > 63 ? 0 : magnitude >> (unit - lsb)) : magnitude << (lsb - unit);
  if (kept == 0) return 0;  // underflow becomes +0
  if (top < -126) return sign | static_cast<uint32_t>(kept);
  return sign | static_cast<uint32_t>(top + 127) << 23 | (static_cast<uint32_t>(kept) & 0x7FFFFF);
}

// Converts magnitude * 2^lsb to f16, to nearest even.
uint32_t to_f16(bool negative, uint64_t magnitude, int lsb) {
  const int top = std::bit_width(magnitude) - 1 + lsb;
  const uint32_t sign = negative ? 0x8000u : 0;
  if (top >= 16) return sign | 0x7C00;
  const int unit = std::max(top - 10, -24);
  uint64_t kept = 0;
  if (unit <= lsb) {
    kept = magnitude << (lsb - unit);
  } else if (unit - lsb < 63) {
    const int drop = unit - lsb;
    const uint64_t half = uint64_t{1} << (drop - 1), rest = magnitude & (2 * half - 1);
    kept = magnitude >> drop;
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  if (kept == 0) return 0;
  // The code of kept * 2^unit: a carry of the rounding increments the exponent.
  const uint32_t code = unit == -24
                            ? static_cast<uint32_t>(kept)
                            : static_cast<uint32_t>(((unit + 25) << 10) + static_cast<int64_t>(kept) - 1024);
  return sign | std::min(code, 0x7C00u);
}

}  // namespace

const FloatFormat& float_format(std::string_view name) {
  for (const FloatFormat& f : kFormats) {
    if (f.name == name) return f;
  }
  throw std::runtime_error("no format " + std::string(name));
}

FloatValue decode_float(const FloatFormat& f, uint32_t code) {
  if (f.name == "tf32") code >>= 13;  // the upper 19 bits of a word
  const uint32_t fraction_mask = (1u << f.fraction_bits) - 1, exponent_mask = (1u << f.exponent_bits) - 1;
  const uint32_t fraction = code & fraction_mask, exponent = code >> f.fraction_bits & exponent_mask;
  FloatValue v;
  v.negative = f.is_signed && (code >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  if (f.ieee && exponent == exponent_mask) {
    v.nan = fraction != 0;
    v.infinite = fraction == 0;
    return v;
  }
  if (f.one_nan && exponent == exponent_mask && fraction == fraction_mask) {
    v.nan = true;
    return v;
  }
  const bool subnormal = exponent == 0 && f.fraction_bits != 0;  // ue8m0 has no subnormals and no zero
  v.raw = (subnormal ? 1 : static_cast<int>(exponent)) - f.bias;
  v.significand = subnormal ? fraction : fraction | 1u << f.fraction_bits;
  v.lsb = v.raw - f.fraction_bits;
  return v;
}

uint32_t fused_sum(const FusedSum& rule, const FusedInputs& in, uint32_t c_code) {
  const uint32_t nan = rule.f16_result ? 0x7FFF : 0x7FFFFFFF;
  const FloatValue c = decode_float(float_format(rule.f16_result ? "f16" : "f32"), c_code);
  const size_t k = in.a.size(), per_scale = in.a_scales.empty() ? 0 : k / in.a_scales.size();
  bool is_nan = c.nan, plus = c.infinite && !c.negative, minus = c.infinite && c.negative;
  std::vector<Term> terms;
  if (!c.zero() && !c.infinite && !c.nan) terms.push_back({c.negative, c.significand, c.lsb, c.raw});
  for (size_t first = 0; first < k; first += static_cast<size_t>(rule.group)) {
    FloatValue sa{.significand = 1}, sb{.significand = 1};
    if (per_scale != 0) {
      sa = decode_float(in.scale_format, in.a_scales[first / per_scale]);
      sb = decode_float(in.scale_format, in.b_scales[first / per_scale]);
      is_nan = is_nan || sa.nan || sb.nan;
    }
    int64_t sum = 0;
    int lsb = 0, raw = sa.raw + sb.raw;
    bool any = false;
    for (size_t i = first; i < first + static_cast<size_t>(rule.group); ++i) {
      const FloatValue a = decode_float(in.a_format, in.a[i]), b = decode_float(in.b_format, in.b[i]);
      is_nan = is_nan || a.nan || b.nan || (a.infinite && b.zero()) || (b.infinite && a.zero());
      if (a.infinite || b.infinite) (a.negative == b.negative ? plus : minus) = true;
      if (a.zero() || b.zero()) continue;
      any = true;
      // Members of a group are e2m1: multiples of one half, so products are multiples of one quarter.
      const int member_lsb = rule.group == 1 ? a.lsb + b.lsb : -2;
      const int64_t product = a.significand * b.significand << (a.lsb + b.lsb - member_lsb);
      sum += a.negative == b.negative ? product : -product;
      lsb = member_lsb;
      if (rule.group == 1) raw += a.raw + b.raw;
    }
    if (!any || sa.zero() || sb.zero()) continue;
    terms.push_back(
        {sum < 0, (sum < 0 ? -sum : sum) * sa.significand * sb.significand, lsb + sa.lsb + sb.lsb, raw});
  }
  if (is_nan || (plus && minus)) return nan;
  if (plus || minus)
    return (minus ? (rule.f16_result ? 0x8000u : 0x80000000u) : 0u) |
           (rule.f16_result ? 0x7C00u : 0x7F800000u);
  if (terms.empty()) return 0;
  int top = rule.floor;
  for (const Term& t : terms) top = std::max(top, t.raw);
  int64_t total = 0;
  for (const Term& t : terms) total += align(t, top - rule.window);
  if (total == 0) return 0;
  const bool negative = total < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? -total : total);
  return rule.f16_result ? to_f16(negative, magnitude, top - rule.window)
                         : to_f32(negative, magnitude, top - rule.window);
}

}  // namespace drywell::kernels::conformance
