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

HWY_INLINE size_t lanes() { return hn::Lanes(I32()); }
HWY_INLINE VI load(const uint32_t* p) { return hn::LoadU(I32(), reinterpret_cast<const int32_t*>(p)); }
HWY_INLINE VI load(const int32_t* p) { return hn::LoadU(I32(), p); }
HWY_INLINE VF load(const float* p) { return hn::LoadU(F32(), p); }
HWY_INLINE VI broadcast(const uint32_t* p) { return hn::Set(I32(), static_cast<int32_t>(*p)); }
HWY_INLINE VF broadcast(const float* p) { return hn::Set(F32(), *p); }

/// (kMagic + dot) * scale - kMagic * scale, exactly dot * scale.
HWY_INLINE VF scaled_dot(VI dot, VF scale, VF magic_scale) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(hn::BitCast(F32(), dot), scale, magic_scale);
#else
  (void)magic_scale;
  return hn::Mul(hn::ConvertTo(F32(), hn::Sub(dot, hn::Set(I32(), kMagicBits))), scale);
#endif
}

/// The dot products of one group: R rows, V vectors of columns.
template <unsigned R, unsigned V>
HWY_INLINE void group_dots(const uint32_t* a, size_t a_stride, const uint32_t* b, size_t b_stride, VI (&dot)[R][V]) {
  GroupSum sum[R][V];
  for (unsigned w = 0; w < 4; ++w, a += a_stride, b += b_stride) {
    VI bv[V];
    for (unsigned v = 0; v < V; ++v) bv[v] = load(b + v * lanes());
    for (unsigned r = 0; r < R; ++r) {
      const VI av = broadcast(a + r);
      for (unsigned v = 0; v < V; ++v) sum[r][v].add(bv[v], av, w == 0);
    }
  }
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) dot[r][v] = sum[r][v].total();
}

template <unsigned R, unsigned V>
HWY_INLINE void grouped_sums(const GroupedBlock& x, unsigned row, unsigned n) {
  VF sum[R][V];
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) sum[r][v] = hn::Zero(F32());
  const uint32_t *a = x.a + row, *b = x.b + n;
  const int32_t* bias = x.a_bias + row;
  const float *a_scale = x.a_scales + row, *scale = x.b_scales + n, *magic = x.b_magic_scales + n;
  for (unsigned g = x.groups; g != 0; --g) {
    VI dot[R][V];
    group_dots<R, V>(a, x.a_stride, b, x.b_stride, dot);
    for (unsigned v = 0; v < V; ++v) {
      const VF s = load(scale + v * lanes()), m = load(magic + v * lanes());
      for (unsigned r = 0; r < R; ++r) sum[r][v] = hn::MulAdd(scaled_dot(hn::Add(dot[r][v], hn::Set(I32(), bias[r])), s, m), broadcast(a_scale + r), sum[r][v]);
    }
    a += 4 * x.a_stride, b += 4 * x.b_stride;
    bias += x.a_stride, a_scale += x.a_stride, scale += x.b_stride, magic += x.b_stride;
  }
  for (unsigned r = 0; r < R; ++r)
    for (unsigned v = 0; v < V; ++v) hn::StoreU(sum[r][v], F32(), x.sums + (row + r) * x.sum_stride + n + v * lanes());
}

void GroupedSums(const GroupedBlock& x) {
  constexpr unsigned kRows = 2, kVectors = 2;  // with their sums, the registers of AVX2
  for (unsigned n = 0; n < x.columns; n += kVectors * static_cast<unsigned>(lanes())) {
    unsigned r = 0;
    for (; r + kRows <= x.rows; r += kRows) grouped_sums<kRows, kVectors>(x, r, n);
    if (r < x.rows) grouped_sums<1, kVectors>(x, r, n);
  }
}

/// True if |C| of all lanes is zero or between the limits.
HWY_INLINE bool fits(const GroupedFinish& x, unsigned n) {
  const I32 d;
  const hn::RebindToUnsigned<I32> du;
  // One less, so that zero is above every limit.
  auto least = hn::Set(du, ~0u), greatest = hn::Zero(du);
  for (unsigned i = n; i < n + kColumnMultiple; i += static_cast<unsigned>(lanes())) {
    const auto magnitude = hn::BitCast(du, hn::And(load(x.c + i), hn::Set(d, INT32_MAX)));
    greatest = hn::Max(greatest, magnitude);
    least = hn::Min(least, hn::Sub(magnitude, hn::Set(du, 1)));
  }
  const auto outside = hn::Or(hn::Gt(greatest, hn::Set(du, x.greatest)), hn::Lt(least, hn::Set(du, x.least - 1)));
  return hn::AllFalse(du, outside);
}

uint32_t FinishGrouped(const GroupedFinish& x) {
  const F32 df;
  uint32_t left = 0;
  for (unsigned n = 0; n < x.columns; n += kColumnMultiple) {
    if (x.c != nullptr && !fits(x, n)) {
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

HWY_EXPORT(GroupedSums);
HWY_EXPORT(FinishGrouped);
HWY_EXPORT(ByteDots);

void exact_grouped_sums(const GroupedBlock& x) {
  HWY_DYNAMIC_DISPATCH(GroupedSums)
  (x);
}
uint32_t finish_grouped(const GroupedFinish& x) { return HWY_DYNAMIC_DISPATCH(FinishGrouped)(x); }
void byte_dots(const ByteRow& x) { return HWY_DYNAMIC_DISPATCH(ByteDots)(x); }

}  // namespace drywell::numeric
#endif
