// The algorithm of docs/facts/numerics.md §3.1 on vectors of columns. Its sums are exact for these reasons:
//
// * Values of a row are scaled by a power of two so that every magnitude is below 2 and, in float, at least
//   2^-kMaxExponentSpan (or zero); a product of two significands of at most 11 bits is then exact in float, for all formats.
// * A multiplication by 2^(F - E), with E relative to the rows' exponents, and a conversion to an integer toward zero are
//   step 3 of the algorithm (sign-magnitude truncation to a multiple of the quantum). |term| < 2^(F + 2) = 2^27.
// * Sums of sixteen such terms are below 2^31 and are computed in 32-bit integers. The sums of these and C are computed in
//   double, where sums of integers below 2^53 are exact. In the grouped kind the terms are doubles below 2^47.
// * The final rounding uses the exact sum, a double.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/tile_kernels.cpp"
#define HWY_WANT_AVX3_DL  // integer dot products
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/numeric/highway/tile_kernels.h"

HWY_BEFORE_NAMESPACE();
#include "sim/numeric/highway/byte_dot-inl.h"
namespace drywell::numeric {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;
using I32 = hn::Repartition<int32_t, F32>;

/// Per column: exponent q of the quantum, and the integer sums of the terms.
template <class Exponent>
struct Stage {
  alignas(64) Exponent tops[kMaxColumns + kReadSlack];
  alignas(64) int32_t quantum[kMaxColumns];
  alignas(64) int32_t sum[2][kMaxColumns];
};

/// Truncation toward zero of values known to be below 2^31. Highway's ConvertTo also handles overflow, which
/// costs more than the rest of the inner loop.
template <class V>
HWY_INLINE hn::Vec<I32> truncate_small(V v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<I32>{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<I32>{_mm256_cvttps_epi32(v.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Vec<I32>{_mm_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(I32(), v);
#endif
}

/// Raw exponent of C for the window, at least the floor; for C == 0 the floor.
HWY_INLINE hn::Vec<I32> c_top(const RowOutput& out, unsigned n) {
  const I32 d32;
  const auto bits = hn::BitCast(d32, hn::LoadU(F32(), out.c + n));
  const auto field = hn::And(hn::ShiftRight<23>(bits), hn::Set(d32, 0xFF));
  const auto raw = hn::Max(hn::Sub(field, hn::Set(d32, 127)), hn::Set(d32, out.c_min_exponent));
  const auto floor = hn::Set(d32, out.floor);
  const auto zero = hn::Eq(hn::And(bits, hn::Set(d32, 0x7FFFFFFF)), hn::Zero(d32));
  return hn::IfThenElse(zero, floor, hn::Max(hn::Sub(raw, hn::Set(d32, out.c_shift)), floor));
}

template <class V>
HWY_INLINE V truncated_to_f32(F64 dd, V v, int dropped_bits, double subnormal_units) {
  const hn::RebindToUnsigned<F64> du;
  const auto mask = hn::Set(du, ~((uint64_t{1} << dropped_bits) - 1));
  const auto normal = hn::BitCast(dd, hn::And(hn::BitCast(du, v), mask));
  const auto units = hn::Trunc(hn::Mul(v, hn::Set(dd, subnormal_units)));
  // The addition of +0 changes -0, a truncated magnitude, to +0.
  const auto subnormal = hn::Add(hn::Mul(units, hn::Set(dd, 1 / subnormal_units)), hn::Zero(dd));
  return hn::IfThenElse(hn::Lt(hn::Abs(v), hn::Set(dd, 0x1p-126)), subnormal, normal);
}

template <class V>
HWY_INLINE V rounded_to_f16(F64 dd, V v) {
  const hn::RebindToUnsigned<F64> du;
  const auto magnitude = hn::Abs(v);
  const auto exponent_only = hn::Set(du, uint64_t{0x7FF} << 52);
  const auto binade = hn::BitCast(dd, hn::And(hn::BitCast(du, magnitude), exponent_only));
  // After the addition of 2^42 times the binade, the last place of the double is the f16 quantum.
  const auto magic = hn::Mul(hn::Max(binade, hn::Set(dd, 0x1p-14)), hn::Set(dd, 0x1p42));
  const auto rounded = hn::Sub(hn::Add(magnitude, magic), magic);
  const auto infinity = hn::BitCast(dd, exponent_only);
  const auto result = hn::IfThenElse(hn::Ge(rounded, hn::Set(dd, 0x1p16)), infinity, rounded);
  return hn::IfThenElse(hn::Eq(rounded, hn::Zero(dd)), rounded, hn::CopySign(result, v));
}

/// Step 5 and the store. `value` is the exact sum.
template <class V>
HWY_INLINE void store_result(F64 dd, V value, const RowOutput& out, unsigned n) {
  switch (out.output) {
    case MmaOutput::f32_rz24: value = truncated_to_f32(dd, value, 53 - 24, 0x1p149); break;
    case MmaOutput::f32_rz14: value = truncated_to_f32(dd, value, 53 - 14, 0x1p139); break;
    case MmaOutput::f16_rn: value = rounded_to_f16(dd, value); break;
  }
  const hn::Rebind<float, F64> df;
  hn::StoreU(hn::DemoteTo(df, value), df, out.d + n);
}

struct Powers {
  hn::Vec<F64> up, down, c_down;  // 2^q, 2^-q, 2^(-q - c_shift)
};
HWY_INLINE Powers powers(F64 dd, const int32_t* quantum, int c_shift) {
  const hn::Rebind<int32_t, F64> d32;
  const hn::RebindToSigned<F64> d64;
  const auto q = hn::PromoteTo(d64, hn::LoadU(d32, quantum));
  const auto power = [&](hn::Vec<decltype(d64)> e) {
    return hn::BitCast(dd, hn::ShiftLeft<52>(hn::Add(e, hn::Set(d64, 1023))));
  };
  return {power(q), power(hn::Neg(q)), power(hn::Sub(hn::Set(d64, -c_shift), q))};
}

HWY_INLINE hn::Vec<F64> truncated_c(F64 dd, const Powers& p, const RowOutput& out, unsigned n) {
  const auto c = hn::PromoteTo(dd, hn::LoadU(hn::Rebind<float, F64>(), out.c + n));
  return hn::Trunc(hn::Mul(c, p.c_down));
}

/// Relative exponents up to this belong to products with a zero.
template <class Exponent>
constexpr int kNoProduct = sizeof(Exponent) == 1 ? kZeroExponent : kWideZeroExponent + 1000;

/// Step 3, first half: the highest raw exponent over the non-zero products.
template <class T, class Exponent>
HWY_INLINE void find_tops(const AlignedRow<T, Exponent>& row, unsigned columns, Stage<Exponent>& stage) {
  const hn::Repartition<Exponent, F32> d;
  for (unsigned n = 0; n < columns; n += static_cast<unsigned>(hn::Lanes(d))) {
    auto top = hn::Set(d, sizeof(Exponent) == 1 ? 2 * kZeroExponent : 2 * kWideZeroExponent);
    for (unsigned k = 0; k < row.k; ++k) {
      const auto b = hn::LoadU(d, row.b_exponents + k * row.b_stride + n);
      top = hn::Max(top, hn::Add(hn::Set(d, row.a_exponents[k * row.a_stride]), b));
    }
    hn::StoreU(top, d, stage.tops + n);
  }
}

/// Writes the quantum and returns the window's top relative to the exponents of the two rows.
template <class T, class Exponent>
HWY_INLINE hn::Vec<I32> find_quantum(const AlignedRow<T, Exponent>& row, const RowOutput& out, unsigned n,
                                     Stage<Exponent>& stage) {
  const I32 d32;
  const hn::Rebind<Exponent, I32> narrow;
  const auto rows = hn::Add(hn::Set(d32, row.a_row_exponent), hn::LoadU(d32, row.b_row_exponents + n));
  const auto relative = hn::PromoteTo(d32, hn::LoadU(narrow, stage.tops + n));
  const auto real = hn::Gt(relative, hn::Set(d32, kNoProduct<Exponent>));
  const auto products = hn::IfThenElse(real, relative, hn::Set(d32, 2 * kWideZeroExponent));
  const auto top = hn::Max(products, hn::Sub(c_top(out, n), rows));
  hn::StoreU(hn::Sub(hn::Add(top, rows), hn::Set(d32, out.window)), d32, stage.quantum + n);
  return top;
}

/// 2^(F - E) as float. The clamps have an effect only if every product is zero or below the quantum (a non-zero product has
/// relative exponent >= -2 * kMaxExponentSpan, and products are below 4).
HWY_INLINE hn::Vec<F32> float_scale(hn::Vec<I32> top, int window) {
  const I32 d32;
  const auto exponent = hn::Sub(hn::Set(d32, window), top);
  const auto clamped = hn::Min(hn::Max(exponent, hn::Set(d32, -4)), hn::Set(d32, 125));
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(clamped, hn::Set(d32, 127))));
}

void AlignedFloatRow(const FloatRow& row, const RowOutput& out) {
  const F32 df;
  const I32 d32;
  const auto lanes = static_cast<unsigned>(hn::Lanes(df));
  Stage<int8_t> stage;
  find_tops(row, out.columns, stage);
  for (unsigned n = 0; n < out.columns; n += 2 * lanes) {
    const auto scale0 = float_scale(find_quantum(row, out, n, stage), out.window);
    const auto scale1 = float_scale(find_quantum(row, out, n + lanes, stage), out.window);
    for (unsigned part = 0; part < 2; ++part) {
      auto sum0 = hn::Zero(d32), sum1 = hn::Zero(d32);
      const unsigned last = part == 0 ? (row.k < 16 ? row.k : 16) : row.k;
      for (unsigned k = part * 16; k < last; ++k) {
        const auto a = hn::Set(df, row.a[k * row.a_stride]);
        const float* b = row.b + k * row.b_stride + n;
        sum0 = hn::Add(sum0, truncate_small(hn::Mul(hn::Mul(a, hn::LoadU(df, b)), scale0)));
        sum1 = hn::Add(sum1, truncate_small(hn::Mul(hn::Mul(a, hn::LoadU(df, b + lanes)), scale1)));
      }
      hn::StoreU(sum0, d32, stage.sum[part] + n);
      hn::StoreU(sum1, d32, stage.sum[part] + n + lanes);
    }
  }
  const F64 dd;
  const hn::Rebind<int32_t, F64> half;
  for (unsigned n = 0; n < out.columns; n += static_cast<unsigned>(hn::Lanes(dd))) {
    const Powers p = powers(dd, stage.quantum + n, out.c_shift);
    const auto first = hn::PromoteTo(dd, hn::LoadU(half, stage.sum[0] + n));
    const auto second = hn::PromoteTo(dd, hn::LoadU(half, stage.sum[1] + n));
    const auto sum = hn::Add(hn::Add(first, second), truncated_c(dd, p, out, n));
    store_result(dd, hn::Mul(sum, p.up), out, n);
  }
}

void AlignedDoubleRow(const DoubleRow& row, const RowOutput& out) {
  const F64 dd;
  const I32 d32;
  Stage<int16_t> stage;
  find_tops(row, out.columns, stage);
  for (unsigned n = 0; n < out.columns; n += static_cast<unsigned>(hn::Lanes(d32))) {
    hn::StoreU(find_quantum(row, out, n, stage), d32, stage.sum[0] + n);
  }
  const hn::Rebind<int32_t, F64> half;
  const hn::RebindToSigned<F64> d64;
  for (unsigned n = 0; n < out.columns; n += static_cast<unsigned>(hn::Lanes(dd))) {
    const Powers p = powers(dd, stage.quantum + n, out.c_shift);
    const auto top = hn::LoadU(half, stage.sum[0] + n);
    const auto exponent = hn::Min(hn::Sub(hn::Set(half, out.window), top), hn::Set(half, 900));
    const auto biased = hn::Max(hn::Add(exponent, hn::Set(half, 1023)), hn::Set(half, 1023 - 4));
    const auto scale = hn::BitCast(dd, hn::ShiftLeft<52>(hn::PromoteTo(d64, biased)));
    auto sum = truncated_c(dd, p, out, n);
    for (unsigned k = 0; k < row.k; ++k) {
      const auto product = hn::Mul(hn::Set(dd, row.a[k * row.a_stride]), hn::LoadU(dd, row.b + k * row.b_stride + n));
      sum = hn::Add(sum, hn::Trunc(hn::Mul(product, scale)));
    }
    // A sum of -0 terms must become +0.
    store_result(dd, hn::Mul(hn::Add(sum, hn::Zero(dd)), p.up), out, n);
  }
}

/// Bit 0 of each 4-bit code that is not zero.
HWY_INLINE hn::Vec<I32> nonzero_codes(hn::Vec<I32> codes) {
  const I32 d;
  const auto magnitude = hn::And(codes, hn::Set(d, 0x77777777));
  const auto any = hn::Or(magnitude, hn::Or(hn::ShiftRight<1>(magnitude), hn::ShiftRight<2>(magnitude)));
  return hn::And(any, hn::Set(d, 0x11111111));
}

/// Dot products of the groups of one vector of columns, and the highest exponent of the groups with a non-zero product.
HWY_INLINE hn::Vec<I32> group_dots(const GroupedRow& row, unsigned n, int32_t (*dots)[kMaxColumns]) {
  const I32 d;
  const auto word = [](const uint32_t* p) { return hn::LoadU(I32(), reinterpret_cast<const int32_t*>(p)); };
  const auto same = [](uint32_t v) { return hn::Set(I32(), static_cast<int32_t>(v)); };
  auto top = hn::Set(d, 2 * kNoScale);
  for (unsigned g = 0; g < row.groups; ++g) {
    auto dot = hn::Set(d, row.a_bias[g * row.a_stride] - kMagicBits);
    for (unsigned w = 4 * g; w < 4 * g + 4; ++w)
      dot = add_byte_products<true>(dot, word(row.b + w * row.b_stride + n), same(row.a[w * row.a_stride]));
    hn::StoreU(dot, d, dots[g] + n);
    auto both = hn::Zero(d);
    for (unsigned w = 2 * g; w < 2 * g + 2; ++w) {
      const auto a = nonzero_codes(same(row.a_codes[w * row.a_stride])), b = nonzero_codes(word(row.b_codes + w * row.b_stride + n));
      both = hn::Or(both, hn::And(a, b));
    }
    const auto exponent = hn::Add(hn::Set(d, row.a_exponents[g * row.a_stride]), hn::LoadU(d, row.b_exponents + g * row.b_stride + n));
    top = hn::IfThenElse(hn::Eq(both, hn::Zero(d)), top, hn::Max(top, exponent));
  }
  return top;
}

void Grouped(const GroupedRow& row, const RowOutput& out) {
  const I32 d32;
  alignas(64) int32_t dots[kMaxGroups][kMaxColumns], quantum[kMaxColumns];
  for (unsigned n = 0; n < out.columns; n += static_cast<unsigned>(hn::Lanes(d32))) {
    const auto top = hn::Max(group_dots(row, n, dots), c_top(out, n));
    hn::StoreU(hn::Sub(top, hn::Set(d32, out.window)), d32, quantum + n);
  }
  const F64 dd;
  const hn::Rebind<int32_t, F64> half;
  const hn::Rebind<float, F64> half_float;
  for (unsigned n = 0; n < out.columns; n += static_cast<unsigned>(hn::Lanes(dd))) {
    const Powers p = powers(dd, quantum + n, out.c_shift);
    auto sum = truncated_c(dd, p, out, n);
    for (unsigned g = 0; g < row.groups; ++g) {
      const auto dot = hn::PromoteTo(dd, hn::LoadU(half, dots[g] + n));
      const auto a_scale = hn::Set(dd, static_cast<double>(row.a_scales[g * row.a_stride]));
      const auto scale = hn::Mul(a_scale, hn::PromoteTo(dd, hn::LoadU(half_float, row.b_scales + g * row.b_stride + n)));
      sum = hn::Add(sum, hn::Trunc(hn::Mul(hn::Mul(dot, scale), p.down)));
    }
    store_result(dd, hn::Mul(hn::Add(sum, hn::Zero(dd)), p.up), out, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(AlignedFloatRow);
HWY_EXPORT(AlignedDoubleRow);
HWY_EXPORT(Grouped);

void aligned_row(const FloatRow& row, const RowOutput& out) {
  HWY_DYNAMIC_DISPATCH(AlignedFloatRow)
  (row, out);
}
void aligned_row(const DoubleRow& row, const RowOutput& out) {
  HWY_DYNAMIC_DISPATCH(AlignedDoubleRow)
  (row, out);
}
void grouped_row(const GroupedRow& row, const RowOutput& out) { return HWY_DYNAMIC_DISPATCH(Grouped)(row, out); }

}  // namespace drywell::numeric
#endif
