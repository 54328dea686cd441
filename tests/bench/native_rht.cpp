// One vector holds 16-element blocks of neighbouring columns, element i of all of them in register i: the transform is
// additions between registers, and a block's codes become two words per lane.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/native_rht.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "tests/bench/native_rht.h"

HWY_BEFORE_NAMESPACE();
namespace drywell::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using VF = hn::Vec<F32>;
using VI = hn::Vec<I32>;

constexpr unsigned kBlock = 16, kPanelBlocks = 8, kPanelColumns = 16;
constexpr uint32_t kSigns = 0xD7E8;  // rows of the Hadamard matrix that are negated

/// All finite terms of a block aligned to its largest exponent; returns the exponent of their unit.
HWY_INLINE VI load_block(const uint16_t* rows, uint64_t stride, VI (&v)[kBlock]) {
  const I32 d;
  const hn::Rebind<uint16_t, I32> d16;
  VI field[kBlock], top = hn::Set(d, 1);
  for (unsigned i = 0; i < kBlock; ++i) {
    v[i] = hn::PromoteTo(d, hn::LoadU(d16, rows + i * stride));
    field[i] = hn::Max(hn::And(hn::ShiftRight<7>(v[i]), hn::Set(d, 0xFF)), hn::Set(d, 1));
    top = hn::Max(top, field[i]);
  }
  for (unsigned i = 0; i < kBlock; ++i) {
    const auto normal = hn::Gt(hn::And(v[i], hn::Set(d, 0x7F80)), hn::Zero(d));
    const auto hidden = hn::IfThenElseZero(normal, hn::Set(d, 0x80));
    const auto significand = hn::ShiftLeft<18>(hn::Or(hn::And(v[i], hn::Set(d, 0x7F)), hidden));
    const auto term = hn::Shr(significand, hn::Min(hn::Sub(top, field[i]), hn::Set(d, 31)));
    const auto negative = hn::Ne(hn::And(v[i], hn::Set(d, 0x8000)), hn::Set(d, (kSigns >> i & 1) != 0 ? 0x8000 : 0));
    v[i] = hn::IfThenElse(negative, hn::Neg(term), term);
  }
  return hn::Sub(top, hn::Set(d, 127 + 2 + 25));
}

HWY_INLINE void transform(VI (&v)[kBlock]) {
  for (unsigned half = 1; half < kBlock; half *= 2) {
    for (unsigned i = 0; i < kBlock; i += 2 * half) {
      for (unsigned j = i; j < i + half; ++j) {
        const VI sum = hn::Add(v[j], v[j + half]);
        v[j + half] = hn::Sub(v[j], v[j + half]);
        v[j] = sum;
      }
    }
  }
}

/// sum * 2^unit: to 24 bits toward zero, then to bf16, nearest even.
HWY_INLINE VF rounded(VI sum, VF unit) {
  const I32 d;
  const F32 df;
  const VF nearest = hn::ConvertTo(df, sum);
  const auto beyond = hn::Gt(hn::Abs(hn::ConvertTo(d, nearest)), hn::Abs(sum));
  const VI cut = hn::Add(hn::BitCast(d, nearest), hn::VecFromMask(d, beyond));
  const VI bits = hn::BitCast(d, hn::Mul(hn::BitCast(df, cut), unit));
  const VI even = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  return hn::BitCast(df, hn::And(hn::Add(bits, hn::Add(even, hn::Set(d, 0x7FFF))), hn::Set(d, static_cast<int32_t>(0xFFFF0000))));
}

HWY_INLINE VF power_of_two(VI e) { return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(e, hn::Set(I32(), 127)))); }
HWY_INLINE VI exponent_of(VF v, int least) {
  const I32 d;
  return hn::Max(hn::Sub(hn::ShiftRight<23>(hn::BitCast(d, v)), hn::Set(d, 127)), hn::Set(d, least));
}

/// ue4m3, nearest even, saturating; `v` is not negative.
HWY_INLINE VI to_ue4m3(VF v) {
  const I32 d;
  const VI e = exponent_of(v, -6);
  const VI steps = hn::NearestInt(hn::Mul(hn::Min(v, hn::Set(F32(), 512.0f)), power_of_two(hn::Sub(hn::Set(d, 3), e))));
  return hn::Min(hn::Add(steps, hn::ShiftLeft<3>(hn::Add(e, hn::Set(d, 6)))), hn::Set(d, 0x7E));
}
HWY_INLINE VF from_ue4m3(VI code) {
  const I32 d;
  const F32 df;
  const VF normal = hn::BitCast(df, hn::Add(hn::ShiftLeft<20>(code), hn::Set(d, 120 << 23)));
  const VF subnormal = hn::Mul(hn::ConvertTo(df, code), hn::Set(df, 0x1p-9f));
  return hn::IfThenElse(hn::RebindMask(df, hn::Gt(code, hn::Set(d, 7))), normal, subnormal);
}

/// e2m1, nearest even, saturating.
HWY_INLINE VI to_e2m1(VF v) {
  const I32 d;
  const VF magnitude = hn::Min(hn::Abs(v), hn::Set(F32(), 6.0f));
  const VI e = exponent_of(magnitude, 0);
  const VI steps = hn::NearestInt(hn::Mul(magnitude, power_of_two(hn::Sub(hn::Set(d, 1), e))));
  const auto sign = hn::And(hn::ShiftRight<28>(hn::BitCast(d, v)), hn::Set(d, 8));
  return hn::Or(hn::Add(steps, hn::Add(e, e)), sign);
}

/// One block of a vector of columns: two words of codes and the scale.
HWY_INLINE void quantize_block(const detail::Tensor& t, const uint16_t* rows, VI (&words)[2], VI& scale) {
  const I32 d;
  const F32 df;
  VI v[kBlock];
  const VF unit = power_of_two(hn::Max(load_block(rows, t.n, v), hn::Set(d, -126)));
  transform(v);
  VF x[kBlock], largest = hn::Zero(df);
  for (unsigned i = 0; i < kBlock; ++i) {
    x[i] = rounded(v[i], unit);
    largest = hn::Max(largest, hn::Abs(x[i]));
  }
  scale = to_ue4m3(hn::Mul(hn::Div(largest, hn::Set(df, 6.0f)), hn::Set(df, t.encode)));
  const VF decoded = hn::Mul(from_ue4m3(scale), hn::Set(df, t.decode));
  const VF inverse = hn::Min(hn::Div(hn::Set(df, 1.0f), decoded), hn::Set(df, 3.40282347e38f));
  words[0] = words[1] = hn::Zero(d);
  for (unsigned i = 0; i < kBlock; ++i)
    words[i / 8] = hn::Or(words[i / 8], hn::ShiftLeftSame(to_e2m1(hn::Mul(x[i], inverse)), static_cast<int>(4 * (i % 8))));
}

/// kPanelBlocks blocks of kPanelColumns columns, put together here and copied out in cache lines.
HWY_INLINE void panel(const detail::Tensor& t, uint64_t column, uint64_t block) {
  const I32 d;
  alignas(64) uint32_t codes[kPanelColumns][2 * kPanelBlocks], words[2][kPanelColumns], scale_words[kPanelColumns];
  uint8_t scales[kPanelColumns][kPanelBlocks];
  for (unsigned b = 0; b < kPanelBlocks; ++b) {
    for (unsigned c = 0; c < kPanelColumns; c += static_cast<unsigned>(hn::Lanes(d))) {
      VI w[2], scale;
      quantize_block(t, t.input + (block + b) * kBlock * t.n + column + c, w, scale);
      for (unsigned i = 0; i < 2; ++i) hn::StoreU(w[i], d, reinterpret_cast<int32_t*>(words[i]) + c);
      hn::StoreU(scale, d, reinterpret_cast<int32_t*>(scale_words) + c);
    }
    for (unsigned c = 0; c < kPanelColumns; ++c) {
      codes[c][2 * b] = words[0][c];
      codes[c][2 * b + 1] = words[1][c];
      scales[c][b] = static_cast<uint8_t>(scale_words[c]);
    }
  }
  for (unsigned c = 0; c < kPanelColumns; ++c) {
    std::memcpy(t.codes + (column + c) * t.m / 2 + block * kBlock / 2, codes[c], sizeof(codes[c]));
    std::memcpy(t.scales + (column + c) * t.m / kBlock + block, scales[c], sizeof(scales[c]));
  }
}

void Columns(const detail::Tensor& t, uint64_t first, uint64_t last) {
  for (uint64_t block = 0; block < t.m / kBlock; block += kPanelBlocks)
    for (uint64_t column = first; column < last; column += kPanelColumns) panel(t, column, block);
}

}  // namespace HWY_NAMESPACE
}  // namespace drywell::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>

#include "drywell/core/parallel.h"

namespace drywell::bench {

HWY_EXPORT(Columns);

void native_rht(std::span<const uint16_t> input, uint64_t m, uint64_t n, float amax, unsigned threads, NativeRht& out) {
  out.codes.resize(n * m / 2);
  out.scales.resize(n * m / 16);
  float encode = std::min(2688.0f / amax, std::numeric_limits<float>::max());
  if (amax == 0 || encode == 0) encode = 1;
  parallel_for(n / 16, threads, [&](uint64_t first, uint64_t end) {
    HWY_DYNAMIC_DISPATCH(Columns)
    (detail::Tensor{input.data(), m, n, encode, 1.0f / encode, out.codes.data(), out.scales.data()}, first * 16, end * 16);
  });
}

}  // namespace drywell::bench
#endif
