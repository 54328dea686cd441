#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/exact_kernels.cpp"
#define HWY_WANT_AVX3_DL  // integer dot products
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/numeric/highway/exact_kernels.h"

HWY_BEFORE_NAMESPACE();
#include "sim/numeric/highway/byte_dot-inl.h"
namespace drywell::numeric {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using VF = hn::Vec<F32>;
using VI = hn::Vec<I32>;

/// Truncation toward zero of values known to be below 2^31. Highway's ConvertTo also handles overflow, which
/// costs more than the rest of the inner loop.
HWY_INLINE VI truncate_small(VF v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VI{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(v.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return VI{_mm_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(I32(), v);
#endif
}

HWY_INLINE size_t lanes() { return hn::Lanes(I32()); }
HWY_INLINE VI load(const uint32_t* p) { return hn::LoadU(I32(), reinterpret_cast<const int32_t*>(p)); }
HWY_INLINE VI load(const int32_t* p) { return hn::LoadU(I32(), p); }
HWY_INLINE VF load(const float* p) { return hn::LoadU(F32(), p); }
HWY_INLINE VI broadcast(const uint32_t* p) { return hn::Set(I32(), static_cast<int32_t>(*p)); }
HWY_INLINE VF broadcast(const float* p) { return hn::Set(F32(), *p); }

/// Calls f.operator()<rows, vectors>(row, column) over a block, with enough registers of sums to hide the latency of an
/// addition.
template <class F>
HWY_INLINE void for_register_blocks(unsigned rows, unsigned columns, F f) {
  const auto step = static_cast<unsigned>(lanes());
  unsigned n = 0;
  for (; rows == 1 && n + 8 * step <= columns; n += 8 * step) f.template operator()<1, 8>(0, n);
  for (; n + 4 * step <= columns; n += 4 * step) {
    unsigned r = 0;
    for (; r + 2 <= rows; r += 2) f.template operator()<2, 4>(r, n);
    if (r < rows) f.template operator()<1, 4>(r, n);
  }
  for (; n < columns; n += 2 * step) {
    unsigned r = 0;
    for (; r + 2 <= rows; r += 2) f.template operator()<2, 2>(r, n);
    if (r < rows) f.template operator()<1, 2>(r, n);
  }
}

template <unsigned R, unsigned V>
HWY_INLINE void aligned_sums(const AlignedBlock& x, unsigned row, unsigned n) {
  VF sum[R][V];
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) sum[r][v] = hn::Zero(F32());
  const float *a = x.a + row, *b = x.b + n;
  for (unsigned k = 0; k < x.k; ++k, a += x.a_stride, b += x.b_stride) {
    VF bv[V];
    for (unsigned v = 0; v < V; ++v) bv[v] = load(b + v * lanes());
    for (unsigned r = 0; r < R; ++r) {
      const VF av = broadcast(a + r);
      for (unsigned v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(av, bv[v], sum[r][v]);
    }
  }
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) hn::StoreU(sum[r][v], F32(), x.sums + (row + r) * x.sum_stride + n + v * lanes());
}

void AlignedSums(const AlignedBlock& x) {
  for_register_blocks(x.rows, x.columns, [&]<unsigned R, unsigned V>(unsigned r, unsigned n) { aligned_sums<R, V>(x, r, n); });
}

/// (kMagic + dot) * scale - kMagic * scale, exactly dot * scale.
HWY_INLINE VF scaled_dot(VI dot, VF scale, VF magic_scale) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(hn::BitCast(F32(), dot), scale, magic_scale);
#else
  (void)magic_scale;
  return hn::Mul(hn::ConvertTo(F32(), hn::Sub(dot, hn::Set(I32(), kMagicBits))), scale);
#endif
}

template <unsigned R, unsigned V>
HWY_INLINE void grouped_sums(const GroupedBlock& x, unsigned row, unsigned n) {
  VF sum[R][V];
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) sum[r][v] = hn::Zero(F32());
  const uint32_t *a = x.a + row, *b = x.b + n;
  for (unsigned g = 0; g < x.groups; ++g) {
    const size_t a_at = g * x.a_stride + row, b_at = g * x.b_stride + n;
    VI dot[R][V];
    for (unsigned r = 0; r < R; ++r)
      for (unsigned v = 0; v < V; ++v) dot[r][v] = hn::Set(I32(), kMagicBits + x.a_bias[a_at + r]);
    for (unsigned w = 0; w < 4; ++w, a += x.a_stride, b += x.b_stride) {
      VI bv[V];
      for (unsigned v = 0; v < V; ++v) bv[v] = load(b + v * lanes());
      for (unsigned r = 0; r < R; ++r) {
        const VI av = broadcast(a + r);
        for (unsigned v = 0; v < V; ++v) dot[r][v] = add_byte_products<true>(dot[r][v], bv[v], av);
      }
    }
    for (unsigned v = 0; v < V; ++v) {
      const VF scale = load(x.b_scales + b_at + v * lanes()), magic = load(x.b_magic_scales + b_at + v * lanes());
      for (unsigned r = 0; r < R; ++r)
        sum[r][v] = hn::MulAdd(scaled_dot(dot[r][v], scale, magic), broadcast(x.a_scales + a_at + r), sum[r][v]);
    }
  }
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) hn::StoreU(sum[r][v], F32(), x.sums + (row + r) * x.sum_stride + n + v * lanes());
}

void GroupedSums(const GroupedBlock& x) {
  for_register_blocks(x.rows, x.columns, [&]<unsigned R, unsigned V>(unsigned r, unsigned n) { grouped_sums<R, V>(x, r, n); });
}

/// Step 3, first half: the highest raw exponent over the non-zero products, relative to the rows' exponents.
HWY_INLINE void find_tops(const AlignedColumns& x, int8_t* tops) {
  const hn::Repartition<int8_t, F32> d8;
  for (unsigned n = 0; n < x.columns; n += static_cast<unsigned>(hn::Lanes(d8))) {
    auto top = hn::Set(d8, 2 * kZeroExponent);
    for (unsigned k = 0; k < x.k; ++k) {
      const auto b = hn::LoadU(d8, x.b_exponents + k * x.b_stride + n);
      top = hn::Max(top, hn::Add(hn::Set(d8, x.a_exponents[k * x.a_stride]), b));
    }
    hn::StoreU(top, d8, tops + n);
  }
}

/// Replaces one vector of sums by D; lanes that are not sound are negative in the result.
HWY_INLINE VI finish_vector(const AlignedColumns& x, const int8_t* tops, float* sums, unsigned n) {
  const I32 d;
  const F32 df;
  const VI c = x.c == nullptr ? hn::Zero(d) : load(x.c + n);
  const VI c_field = hn::And(hn::ShiftRight<23>(c), hn::Set(d, 0xFF));
  const VI c_raw = hn::Max(hn::Sub(c_field, hn::Set(d, 127)), hn::Set(d, -126));
  const VI top = hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, I32>(), tops + n));
  const VI rows = hn::Add(hn::Set(d, x.a_row_exponent), load(x.b_row_exponents + n));
  // A sum with a zero element is at most kZeroExponent and must be ignored.
  const VI products = hn::IfThenElse(hn::Gt(top, hn::Set(d, kZeroExponent)), hn::Add(top, rows), hn::Set(d, x.floor));
  const VI quantum = hn::Sub(hn::Max(hn::Max(products, c_raw), hn::Set(d, x.floor)), hn::Set(d, x.window));
  // Every product is a multiple of 2^lowest, which must be below neither the quantum nor a float's last bit.
  const VI lowest = hn::Add(hn::Set(d, x.a_lowest), load(x.b_lowest + n));
  const VI bad = hn::Or(hn::Sub(lowest, hn::Max(quantum, hn::Set(d, -149))), hn::Sub(hn::Set(d, 126), c_raw));
  // C is truncated to a multiple of the quantum.
  const VI drop = hn::Max(hn::Sub(quantum, hn::Sub(c_raw, hn::Set(d, 23))), hn::Zero(d));
  const VI kept = hn::And(c, hn::Shl(hn::Set(d, -1), hn::Min(drop, hn::Set(d, 23))));
  const VI cut = hn::IfThenElse(hn::Gt(drop, hn::Set(d, 23)), hn::Zero(d), kept);
  const VF up = hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(rows, hn::Set(d, 127))));
  const VF result = hn::MulAdd(load(sums + n), up, hn::BitCast(df, cut));
  hn::StoreU(result, df, sums + n);
  return bad;
}

uint32_t FinishAligned(const AlignedColumns& x, float* sums) {
  const I32 d;
  alignas(64) int8_t tops[256 + kReadSlack];
  find_tops(x, tops);
  uint32_t left = 0;
  for (unsigned n = 0; n < x.columns; n += kColumnMultiple) {
    VI bad = hn::Zero(d);
    for (unsigned i = 0; i < kColumnMultiple; i += static_cast<unsigned>(lanes())) bad = hn::Or(bad, finish_vector(x, tops, sums, n + i));
    if (!hn::AllFalse(d, hn::Lt(bad, hn::Zero(d)))) {
      left |= 1u << n / kColumnMultiple;
      continue;
    }
    for (unsigned i = n; i < n + kColumnMultiple; i += static_cast<unsigned>(lanes()))
      hn::StoreU(load(sums + i), F32(), reinterpret_cast<float*>(x.d) + i);
  }
  return left;
}

/// Exponents of one vector of columns for truncated_aligned: the quantum, and `bad`, negative in unsupported lanes.
struct Window {
  VI c, rows, quantum, bad;
};
HWY_INLINE Window window_of(const AlignedColumns& x, const int8_t* tops, unsigned n) {
  const I32 d;
  // Between these exponents, powers of two of the quantum and all results are normal floats.
  const VI least = hn::Set(d, -100), greatest = hn::Set(d, 100);
  Window w;
  w.c = x.c == nullptr ? hn::Zero(d) : load(x.c + n);
  const VI field = hn::And(hn::ShiftRight<23>(w.c), hn::Set(d, 0xFF));
  const auto zero = hn::Eq(hn::And(w.c, hn::Set(d, 0x7FFFFFFF)), hn::Zero(d));
  const VI c_raw = hn::IfThenElse(zero, least, hn::Sub(field, hn::Set(d, 127)));
  const VI top = hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, I32>(), tops + n));
  w.rows = hn::Add(hn::Set(d, x.a_row_exponent), load(x.b_row_exponents + n));
  const VI products = hn::IfThenElse(hn::Gt(top, hn::Set(d, kZeroExponent)), hn::Add(top, w.rows), least);
  const VI highest = hn::Max(products, c_raw);
  w.bad = hn::Or(hn::Sub(hn::Min(products, c_raw), least), hn::Sub(greatest, highest));
  w.quantum = hn::Sub(highest, hn::Set(d, x.window));
  return w;
}

HWY_INLINE VF power_of_two(VI exponent) { return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(I32(), 127)))); }

/// Negative in lanes in which sum = a + b overflowed 32 bits.
HWY_INLINE VI overflowed(VI a, VI b, VI sum) { return hn::And(hn::Xor(a, sum), hn::Xor(b, sum)); }

/// Sum of `count` (at most 16) products from `k` on, in units of the quantum, each truncated toward zero: |sum| < 2^31.
template <unsigned V>
HWY_INLINE void truncated_sums(const AlignedColumns& x, unsigned k, unsigned count, unsigned n, const VF (&scale)[V], VI (&sum)[V]) {
  for (unsigned v = 0; v < V; ++v) sum[v] = hn::Zero(I32());
  for (const unsigned end = k + count; k < end; ++k) {
    const VF a = broadcast(x.a + k * x.a_stride);
    const float* b = x.b + k * x.b_stride + n;
    for (unsigned v = 0; v < V; ++v)
      sum[v] = hn::Add(sum[v], truncate_small(hn::Mul(hn::Mul(a, load(b + v * lanes())), scale[v])));
  }
}

/// Writes D of V vectors to `out`; lanes that are not sound are negative in the result.
template <unsigned V>
HWY_INLINE VI truncated_vectors(const AlignedColumns& x, const int8_t* tops, unsigned n, float* out) {
  const I32 d;
  Window w[V];
  VF scale[V];
  VI bad = hn::Zero(d), low[V], high[V];
  for (unsigned v = 0; v < V; ++v) {
    w[v] = window_of(x, tops, n + v * static_cast<unsigned>(lanes()));
    const VI exponent = hn::Sub(w[v].rows, w[v].quantum);
    // The upper bound has an effect only if every product is zero.
    scale[v] = power_of_two(hn::Max(hn::Min(exponent, hn::Set(d, 126)), hn::Set(d, -126)));
  }
  truncated_sums<V>(x, 0, x.k < 16 ? x.k : 16, n, scale, low);
  truncated_sums<V>(x, 16, x.k < 16 ? 0 : x.k - 16, n, scale, high);
  for (unsigned v = 0; v < V; ++v) {
    const VI products = hn::Add(low[v], high[v]);
    const VI c = truncate_small(hn::Mul(hn::BitCast(F32(), w[v].c), power_of_two(hn::Neg(w[v].quantum))));
    const VI sum = hn::Add(products, c);
    const VI wrapped = hn::Or(overflowed(low[v], high[v], products), overflowed(products, c, sum));
    bad = hn::Or(bad, hn::Or(w[v].bad, wrapped));
    // The conversion rounds toward zero, the processor's current mode.
    hn::StoreU(hn::Mul(hn::ConvertTo(F32(), sum), power_of_two(w[v].quantum)), F32(), out + v * lanes());
  }
  return bad;
}

uint32_t TruncatedAligned(const AlignedColumns& x) {
  const I32 d;
  alignas(64) int8_t tops[256 + kReadSlack];
  alignas(64) float out[kColumnMultiple];
  find_tops(x, tops);
  uint32_t left = 0;
  for (unsigned n = 0; n < x.columns; n += kColumnMultiple) {
    VI bad = hn::Zero(d);
    for (unsigned i = 0; i < kColumnMultiple; i += static_cast<unsigned>(2 * lanes()))
      bad = hn::Or(bad, truncated_vectors<2>(x, tops, n + i, out + i));
    if (!hn::AllFalse(d, hn::Lt(bad, hn::Zero(d)))) {
      left |= 1u << n / kColumnMultiple;
      continue;
    }
    for (unsigned i = 0; i < kColumnMultiple; i += static_cast<unsigned>(lanes()))
      hn::StoreU(load(out + i), F32(), reinterpret_cast<float*>(x.d) + n + i);
  }
  return left;
}

uint32_t FinishGrouped(const GroupedFinish& x) {
  const I32 d;
  const F32 df;
  uint32_t left = 0;
  for (unsigned n = 0; n < x.columns; n += kColumnMultiple) {
    // Finds |C| outside [least, greatest].
    const hn::RebindToUnsigned<I32> du;
    auto bad = hn::Zero(d);
    for (unsigned i = n; x.c != nullptr && i < n + kColumnMultiple; i += static_cast<unsigned>(lanes())) {
      const auto magnitude = hn::BitCast(du, hn::And(load(x.c + i), hn::Set(d, 0x7FFFFFFF)));
      const auto outside = hn::Ne(hn::Min(hn::Max(magnitude, hn::Set(du, x.least)), hn::Set(du, x.greatest)), magnitude);
      bad = hn::Or(bad, hn::And(hn::BitCast(d, magnitude), hn::VecFromMask(d, hn::RebindMask(d, outside))));
    }
    if (!hn::AllTrue(d, hn::Eq(bad, hn::Zero(d)))) {
      left |= 1u << n / kColumnMultiple;
      continue;
    }
    for (unsigned i = n; i < n + kColumnMultiple; i += static_cast<unsigned>(lanes())) {
      const VF c = x.c == nullptr ? hn::Zero(df) : hn::BitCast(df, load(x.c + i));
      hn::StoreU(hn::Add(load(x.sums + i), c), df, reinterpret_cast<float*>(x.d) + i);
    }
  }
  return left;
}

void ByteDots(const ByteRow& x) {
  const I32 d;
  for (unsigned n = 0; n < x.columns; n += static_cast<unsigned>(2 * lanes())) {
    VI sum0 = load(x.dots + n), sum1 = load(x.dots + n + lanes());
    for (unsigned w = 0; w < x.words; ++w) {
      const VI a = broadcast(x.a + w * x.a_stride);
      const uint32_t* b = x.b + w * x.b_stride + n;
      sum0 = add_byte_products<false>(sum0, load(b), a);
      sum1 = add_byte_products<false>(sum1, load(b + lanes()), a);
    }
    hn::StoreU(sum0, d, x.dots + n);
    hn::StoreU(sum1, d, x.dots + n + lanes());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(AlignedSums);
HWY_EXPORT(GroupedSums);
HWY_EXPORT(FinishAligned);
HWY_EXPORT(TruncatedAligned);
HWY_EXPORT(FinishGrouped);
HWY_EXPORT(ByteDots);

void exact_aligned_sums(const AlignedBlock& x) { HWY_DYNAMIC_DISPATCH(AlignedSums)(x); }
void exact_grouped_sums(const GroupedBlock& x) { HWY_DYNAMIC_DISPATCH(GroupedSums)(x); }
uint32_t finish_aligned(const AlignedColumns& x, float* sums) { return HWY_DYNAMIC_DISPATCH(FinishAligned)(x, sums); }
uint32_t truncated_aligned(const AlignedColumns& x) { return HWY_DYNAMIC_DISPATCH(TruncatedAligned)(x); }
uint32_t finish_grouped(const GroupedFinish& x) { return HWY_DYNAMIC_DISPATCH(FinishGrouped)(x); }
void byte_dots(const ByteRow& x) { HWY_DYNAMIC_DISPATCH(ByteDots)(x); }

}  // namespace drywell::numeric
#endif
