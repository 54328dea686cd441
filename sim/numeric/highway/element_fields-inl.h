// Codes of a number format in 32-bit lanes: their fields and values. Included once per target, between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE, in sources that include "drywell/sim/numeric/format.h".

namespace drywell::numeric {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using VF = hn::Vec<F32>;
using VI = hn::Vec<I32>;

constexpr float power(int e) { return __builtin_bit_cast(float, static_cast<uint32_t>(e + 127) << 23); }

/// Fields of a format for the loops below.
struct Layout {
  int width, fraction, bias, min_exponent;
  int32_t magnitude, special;  // mask of a code without sign; the least such code that is an infinity or NaN
  bool wide_range;             // has float's exponents: codes are the top bits of a float
  int top;                     // largest raw exponent, unless wide_range
};

HWY_INLINE Layout layout_of(Format f) {
  const FormatInfo& in = format_info(f);
  Layout l;
  l.width = static_cast<int>(in.bits());
  l.fraction = static_cast<int>(in.fraction_bits + in.pad_bits);
  l.bias = in.bias;
  l.min_exponent = in.min_exponent();
  l.magnitude = static_cast<int32_t>((in.sign_mask() - 1) & ~((uint32_t{1} << in.pad_bits) - 1));
  l.special = in.has_infinity() ? static_cast<int32_t>(in.infinity())
              : in.has_nan()    ? static_cast<int32_t>(in.nan_result)
                                : 0x7FFFFFFF;
  l.wide_range = in.bias == 127;
  l.top = in.has_infinity() ? in.bias : in.bias + 1;
  return l;
}

/// Fields of one element of each row.
struct Element {
  VI magnitude, sign, exponent_field;
};
HWY_INLINE Element take(const Layout& l, VI word, int shift) {
  const I32 d;
  const auto code = hn::ShiftRightSame(hn::BitCast(hn::RebindToUnsigned<I32>(), word), shift);
  const auto bits = hn::BitCast(d, code);
  const auto sign = hn::And(hn::ShiftLeftSame(bits, 32 - l.width), hn::Set(d, INT32_MIN));
  const auto magnitude = hn::And(bits, hn::Set(d, l.magnitude));
  return {magnitude, sign, hn::ShiftRightSame(magnitude, l.fraction)};
}

/// Raw exponent, or `none` if the element is zero.
HWY_INLINE VI raw_exponent(const Layout& l, const Element& e, VI none) {
  const I32 d;
  const auto raw = hn::Sub(hn::Max(e.exponent_field, hn::Set(d, 1)), hn::Set(d, l.bias));
  return hn::IfThenElse(hn::Eq(e.magnitude, hn::Zero(d)), none, raw);
}

/// The value times 2^-scale, for formats that are not wide_range.
HWY_INLINE VF narrow_value(const Layout& l, const Element& e) {
  const I32 d;
  const F32 df;
  const auto normal = hn::Add(hn::ShiftLeftSame(e.magnitude, 23 - l.fraction), hn::Set(d, (127 - l.bias - l.top) << 23));
  const auto subnormal = hn::Mul(hn::ConvertTo(df, e.magnitude), hn::Set(df, power(l.min_exponent - l.fraction - l.top)));
  const auto is_normal = hn::Gt(e.exponent_field, hn::Zero(d));
  const auto bits = hn::IfThenElse(is_normal, normal, hn::BitCast(d, subnormal));
  return hn::BitCast(df, hn::Or(bits, e.sign));
}

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
