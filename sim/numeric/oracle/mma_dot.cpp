// The reference: docs/facts/numerics.md §3.1 step by step, with exact integers. Intentionally slow and obvious.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/mma.h"

namespace drywell::numeric {
namespace {

/// value = significand * 2^lsb_exponent; the window compares raw_exponent.
struct Term {
  int64_t significand;
  int lsb_exponent;
  int raw_exponent;
};

/// Decoded inputs of a fused sum.
struct Elements {
  std::vector<Decoded> a, b, a_scales, b_scales;
  Decoded c;

  size_t scale_block() const { return a_scales.empty() ? a.size() : a.size() / a_scales.size(); }
};

int64_t signed_significand(const Decoded& d) {
  return d.negative ? -int64_t{d.significand} : int64_t{d.significand};
}

uint32_t nan_word(Format d) { return format_info(d).nan_result; }
uint32_t infinity_word(Format d, bool negative) {
  return format_info(d).infinity() | (negative ? format_info(d).sign_mask() : 0);
}

/// Step 1. True if infinities or NaNs determine the result.
bool special_result(const Elements& e, Format d, uint32_t& result) {
  const auto is_nan = [](const Decoded& x) { return x.is_nan(); };
  bool nan = e.c.is_nan();
  for (const auto* list : {&e.a, &e.b, &e.a_scales, &e.b_scales})
    nan |= std::any_of(list->begin(), list->end(), is_nan);
  bool positive = e.c.is_infinity() && !e.c.negative;
  bool negative = e.c.is_infinity() && e.c.negative;
  for (size_t k = 0; k < e.a.size(); ++k) {
    if (!e.a[k].is_infinity() && !e.b[k].is_infinity()) continue;
    nan |= e.a[k].is_zero() || e.b[k].is_zero();
    (e.a[k].negative != e.b[k].negative ? negative : positive) = true;
  }
  if (!nan && !positive && !negative) return false;
  result = nan || (positive && negative) ? nan_word(d) : infinity_word(d, negative);
  return true;
}

/// Step 2 for group == 1: one term per product.
std::vector<Term> product_terms(const Elements& e) {
  std::vector<Term> terms;
  for (size_t k = 0; k < e.a.size(); ++k) {
    if (e.a[k].is_zero() || e.b[k].is_zero()) continue;
    Term t = {signed_significand(e.a[k]) * signed_significand(e.b[k]),
              e.a[k].lsb_exponent + e.b[k].lsb_exponent, e.a[k].raw_exponent + e.b[k].raw_exponent};
    if (!e.a_scales.empty()) {
      const Decoded &sa = e.a_scales[k / e.scale_block()], &sb = e.b_scales[k / e.scale_block()];
      if (sa.is_zero() || sb.is_zero()) continue;
      t.significand *= int64_t{sa.significand} * sb.significand;
      t.lsb_exponent += sa.lsb_exponent + sb.lsb_exponent;
      t.raw_exponent += sa.raw_exponent + sb.raw_exponent;
    }
    terms.push_back(t);
  }
  return terms;
}

/// Step 2 for group == 16: the exact dot product of a group times its two scales; the window uses only the scales' exponents.
/// A group whose products are all zero is ignored (not settled by the record: docs/facts/numerics.md §3.4 G).
std::vector<Term> group_terms(const Elements& e, size_t group) {
  std::vector<Term> terms;
  for (size_t first = 0; first < e.a.size(); first += group) {
    const Decoded &sa = e.a_scales[first / e.scale_block()], &sb = e.b_scales[first / e.scale_block()];
    constexpr int kFractionBits =
        2 * 1;  // of a product of two e2m1 values, counted in units of their smallest step
    int64_t sum = 0;
    bool any = false;
    for (size_t k = first; k < first + group; ++k) {
      if (e.a[k].is_zero() || e.b[k].is_zero()) continue;
      any = true;
      const int shift = e.a[k].lsb_exponent + e.b[k].lsb_exponent + kFractionBits;
      sum += (signed_significand(e.a[k]) * signed_significand(e.b[k])) << shift;
    }
    if (!any || sa.is_zero() || sb.is_zero()) continue;
    terms.push_back({sum * sa.significand * sb.significand, sa.lsb_exponent + sb.lsb_exponent - kFractionBits,
                     sa.raw_exponent + sb.raw_exponent});
  }
  return terms;
}

/// Truncates value * 2^shift toward zero.
int64_t shift_truncated(int64_t value, int shift) {
  const auto magnitude = static_cast<uint64_t>(std::abs(value));
  const auto shifted = static_cast<int64_t>(shift >= 0    ? magnitude << shift
                                            : shift > -64 ? magnitude >> -shift
                                                          : 0);
  return value < 0 ? -shifted : shifted;
}

/// Step 5 for f32: truncation to `precision` significant bits, subnormals on the grid of the smallest normal.
uint32_t truncated_f32(int64_t sum, int quantum, int precision) {
  const bool negative = sum < 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(sum));
  const int top = quantum + 63 - std::countl_zero(magnitude);
  if (top >= 128) return infinity_word(Format::f32, negative);
  const int grid = std::max(top, -126) - (precision - 1);
  const uint64_t units = round_shift(magnitude, grid - quantum, Rounding::rz, negative);
  return units == 0 ? 0 : encode(Format::f32, negative, units, grid, Rounding::rz, false);
}

uint32_t output_word(MmaOutput output, int64_t sum, int quantum) {
  if (sum == 0) return 0;
  switch (output) {
    case MmaOutput::f32_rz24: return truncated_f32(sum, quantum, 24);
    case MmaOutput::f32_rz14: return truncated_f32(sum, quantum, 14);
    case MmaOutput::f16_rn: {
      const auto magnitude = static_cast<uint64_t>(std::abs(sum));
      const uint32_t word = encode(Format::f16, sum < 0, magnitude, quantum, Rounding::rn, false);
      return (word & 0x7FFF) == 0 ? 0 : word;  // a negative sum that rounds to zero becomes +0
    }
  }
  throw InternalError("output_word: unknown output rounding");
}

/// Steps 1 to 5.
uint32_t fused_sum(const MmaParams& p, const Elements& e) {
  uint32_t result = 0;
  if (special_result(e, p.d_format(), result)) return result;
  std::vector<Term> terms = p.group == 1 ? product_terms(e) : group_terms(e, static_cast<size_t>(p.group));
  if (!e.c.is_zero()) terms.push_back({signed_significand(e.c), e.c.lsb_exponent, e.c.raw_exponent});
  if (terms.empty()) return 0;
  int window_top = p.exponent_floor;
  for (const Term& t : terms) window_top = std::max(window_top, t.raw_exponent);
  const int quantum = window_top - p.window;
  int64_t sum = 0;
  for (const Term& t : terms) sum += shift_truncated(t.significand, t.lsb_exponent - quantum);
  return output_word(p.output, sum, quantum);
}

std::vector<Decoded> decode_all(Format f, std::span<const uint32_t> codes) {
  std::vector<Decoded> out;
  out.reserve(codes.size());
  for (uint32_t code : codes) out.push_back(decode(f, code));
  return out;
}

Decoded scaled_c(Format d, uint32_t c, unsigned input_d_shift) {
  Decoded out = decode(d, c);
  out.lsb_exponent -= static_cast<int>(input_d_shift);
  out.raw_exponent -= static_cast<int>(input_d_shift);
  return out;
}

/// One ordinary addition in the type of D, round to nearest even. The sum of two f16 values is exact in
/// double.
uint32_t add_words(Format d, uint32_t x, uint32_t y) {
  const double exact = to_double(d, x) + to_double(d, y);
  if (std::isnan(exact)) return nan_word(d);
  if (d == Format::f32) return std::bit_cast<uint32_t>(to_float(d, x) + to_float(d, y));
  if (std::isinf(exact)) return infinity_word(d, exact < 0);
  int exponent = 0;
  const double fraction = std::frexp(std::abs(exact), &exponent);
  return encode(d, std::signbit(exact), static_cast<uint64_t>(std::ldexp(fraction, 53)), exponent - 53,
                Rounding::rn, false);
}

/// The legacy fp8 rule of docs/facts/numerics.md §3.2.
uint32_t legacy_fp8_dot(const MmaParams& p, const DotOperands& in, uint32_t c) {
  uint32_t x = 0;
  for (size_t half : {0, 1}) {
    Elements e;
    for (size_t k = 0; k < in.a.size(); ++k) {
      if (k % 4 / 2 != half) continue;
      e.a.push_back(decode(Format::f16, convert({Format::f16, in.a_format}, in.a[k])));
      e.b.push_back(decode(Format::f16, convert({Format::f16, in.b_format}, in.b[k])));
    }
    e.c = decode(p.d_format(), x);
    x = fused_sum(p, e);
  }
  return add_words(p.d_format(), c, x);
}

}  // namespace

uint32_t dot(const MmaParams& p, const DotOperands& in, uint32_t c, unsigned input_d_shift) {
  DRYWELL_CHECK(in.a.size() == in.b.size() && in.a_scales.size() == in.b_scales.size(),
                "operands of unequal length");
  if (p.legacy_fp8) return legacy_fp8_dot(p, in, c);
  const size_t step = p.sum_terms == 0 ? in.a.size() : static_cast<size_t>(p.sum_terms);
  uint32_t d = c;
  for (size_t first = 0; first < in.a.size(); first += step) {
    const size_t count = std::min(step, in.a.size() - first);
    const Elements e = {decode_all(in.a_format, in.a.subspan(first, count)),
                        decode_all(in.b_format, in.b.subspan(first, count)),
                        decode_all(in.scale_format, in.a_scales), decode_all(in.scale_format, in.b_scales),
                        scaled_c(p.d_format(), d, first == 0 ? input_d_shift : 0)};
    d = fused_sum(p, e);
  }
  return d;
}

uint32_t dot_i8(std::span<const uint8_t> a, bool a_signed, std::span<const uint8_t> b, bool b_signed,
                uint32_t c, bool saturate) {
  const auto value = [](uint8_t v, bool is_signed) {
    return is_signed ? int64_t{static_cast<int8_t>(v)} : int64_t{v};
  };
  int64_t sum = static_cast<int32_t>(c);
  for (size_t k = 0; k < a.size(); ++k) sum += value(a[k], a_signed) * value(b[k], b_signed);
  if (saturate) {
    sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  }
  return static_cast<uint32_t>(sum);
}

double dot_f64(std::span<const double> a, std::span<const double> b, double c) {
  for (size_t k = 0; k < a.size(); ++k) c = std::fma(a[k], b[k], c);
  return c;
}

}  // namespace drywell::numeric
