// Semantics of table/float.inc: single-precision arithmetic. NaN results are 7FFFFFFF (docs/facts/numerics.md §2.3).
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/rounded.h"

namespace drywell::sim {
namespace {

template <class F>
ExecFn bind1(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return bind_f32<F, Plain<float>>(d, op);
}
template <class F>
ExecFn bind2(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return bind_f32<F, Plain<float>, Plain<float>>(d, op);
}
template <class F>
ExecFn bind3(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  return bind_f32<F, Plain<float>, Plain<float>, Plain<float>>(d, op);
}

// f32x2: lane k is the two words of a 64-bit lane k, so a source is an array of floats, low half first. op.src[0..2], 64 floats each.
template <class X, size_t N>
void both_halves(Warp& w, const DecodedOp& op, float (&r)[2 * kWarpSize]) {
  const float* s[N];
  for (size_t k = 0; k < N; ++k) s[k] = reinterpret_cast<const float*>(w.bank[op.src[k].bank] + op.src[k].offset);
  for (uint32_t i = 0; i < 2 * kWarpSize; ++i) {
    if constexpr (N == 2) r[i] = X::apply(s[0][i], s[1][i]);
    if constexpr (N == 3) r[i] = X::apply(s[0][i], s[1][i], s[2][i]);
  }
}
void store_halves(Warp& w, const DecodedOp& op, const float (&r)[2 * kWarpSize], LaneMask mask) {
  uint64_t lanes64[kWarpSize];
  std::memcpy(lanes64, r, sizeof lanes64);
  store_masked(lanes<uint64_t>(w, op.dst), lanes64, mask);
}
template <class X, size_t N>
Effect packed(Warp& w, const DecodedOp& op, LaneMask mask) {
  float r[2 * kWarpSize];
  both_halves<X, N>(w, op, r);
  store_halves(w, op, r, mask);
  return Effect::next;
}
template <class X, size_t N>
Effect packed_directed(Warp& w, const DecodedOp& op, LaneMask mask) {
  float r[2 * kWarpSize];
  {
    const RoundingScope scope(op.as<payload::Rounding>().mode);
    // A call that the compiler cannot inline keeps the arithmetic inside the scope.
    void (*volatile compute)(Warp&, const DecodedOp&, float(&)[2 * kWarpSize]) = both_halves<X, N>;
    compute(w, op, r);
  }
  store_halves(w, op, r, mask);
  return Effect::next;
}
template <class F, size_t N>
ExecFn bind_packed(Decoder& d, DecodedOp& op) {
  if constexpr (N == 2) sources(d, op, {1, 2});
  if constexpr (N == 3) sources(d, op, {1, 2, 3});
  const isa::Mod rnd = d.mod(isa::Slot::rnd);
  const bool ftz = d.has(isa::Mod::ftz);
  if (rnd == isa::Mod::none || rnd == isa::Mod::rn) return ftz ? widest<packed<F32<F, true, false>, N>>() : widest<packed<F32<F, false, false>, N>>();
  op.emplace<payload::Rounding>({rnd});
  return ftz ? packed_directed<F32<F, true, false>, N> : packed_directed<F32<F, false, false>, N>;
}

template <bool Max, bool Nan, bool Ftz>
struct MinMax {
  template <class T>
  static float apply(T a, T b) {
    if constexpr (Ftz) {
      a = flush(a);
      b = flush(b);
    }
    return min_max<Max, Nan>(a, b);
  }
};
// Three inputs; .abs compares and returns magnitudes.
template <bool Max, bool Nan, bool Ftz, bool Abs>
Effect min_max3(Warp& w, const DecodedOp& op, LaneMask mask) {
  using F = MinMax<Max, Nan, Ftz>;
  const auto in = [](float v) { return Abs ? std::fabs(v) : v; };
  map3<float, float, float>(w, op, mask, [in](float a, float b, float c) { return F::template apply<float>(F::template apply<float>(in(a), in(b)), in(c)); });
  return Effect::next;
}
// .xorsign.abs: magnitudes are compared, the sign is the exclusive or of the input signs.
template <bool Max, bool Nan, bool Ftz>
Effect min_max_xorsign(Warp& w, const DecodedOp& op, LaneMask mask) {
  map2<float, float>(w, op, mask, [](float a, float b) {
    const float m = MinMax<Max, Nan, Ftz>::template apply<float>(std::fabs(a), std::fabs(b));
    if (std::isnan(m)) return m;
    const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
    return std::bit_cast<float>((std::bit_cast<uint32_t>(m) & 0x7FFFFFFFu) | sign);
  });
  return Effect::next;
}

template <bool Max, bool Nan, bool Ftz>
ExecFn pick_min_max(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  if (d.operand(3) != nullptr) {
    op.src[2] = d.source(*d.operand(3), 32);
    return d.has(isa::Mod::abs) ? widest<min_max3<Max, Nan, Ftz, true>>() : widest<min_max3<Max, Nan, Ftz, false>>();
  }
  return d.has(isa::Mod::xorsign) ? min_max_xorsign<Max, Nan, Ftz> : widest<binary<MinMax<Max, Nan, Ftz>, float>>();
}
template <bool Max>
ExecFn bind_min_max(Decoder& d, DecodedOp& op) {
  const bool nan = d.has(isa::Mod::NaN), ftz = d.has(isa::Mod::ftz);
  if (nan) return ftz ? pick_min_max<Max, true, true>(d, op) : pick_min_max<Max, true, false>(d, op);
  return ftz ? pick_min_max<Max, false, true>(d, op) : pick_min_max<Max, false, false>(d, op);
}

// Every NaN is replaced by the canonical NaN (H200; PTX leaves the result open), .ftz flushes.
template <bool Ftz>
struct NegBits {
  template <class T> static T apply(T v) { return canonical(-(Ftz ? flush(v) : v)); }
};
template <bool Ftz>
struct AbsBits {
  template <class T> static T apply(T v) { return canonical(std::fabs(Ftz ? flush(v) : v)); }
};
// The sign of the first operand, the magnitude of the second; NaN payloads pass.
struct CopySign {
  template <class T> static T apply(T a, T b) { return std::copysign(b, a); }
};

}  // namespace

template <> ExecFn bind<isa::row::add_f32>(Decoder& d, DecodedOp& op) { return bind2<AddOp>(d, op); }
template <> ExecFn bind<isa::row::sub_f32>(Decoder& d, DecodedOp& op) { return bind2<SubOp>(d, op); }
template <> ExecFn bind<isa::row::mul_f32>(Decoder& d, DecodedOp& op) { return bind2<MulOp>(d, op); }
template <> ExecFn bind<isa::row::fma_f32>(Decoder& d, DecodedOp& op) { return bind3<FmaOp>(d, op); }
template <> ExecFn bind<isa::row::div_f32_ieee>(Decoder& d, DecodedOp& op) { return bind2<DivOp>(d, op); }
template <> ExecFn bind<isa::row::rcp_f32_ieee>(Decoder& d, DecodedOp& op) { return bind1<RcpOp>(d, op); }
template <> ExecFn bind<isa::row::sqrt_f32_ieee>(Decoder& d, DecodedOp& op) { return bind1<SqrtOp>(d, op); }
template <> ExecFn bind<isa::row::mad_f32>(Decoder& d, DecodedOp& op) { return bind3<FmaOp>(d, op); }
template <> ExecFn bind<isa::row::add_f32x2>(Decoder& d, DecodedOp& op) { return bind_packed<AddOp, 2>(d, op); }
template <> ExecFn bind<isa::row::sub_f32x2>(Decoder& d, DecodedOp& op) { return bind_packed<SubOp, 2>(d, op); }
template <> ExecFn bind<isa::row::mul_f32x2>(Decoder& d, DecodedOp& op) { return bind_packed<MulOp, 2>(d, op); }
template <> ExecFn bind<isa::row::fma_f32x2>(Decoder& d, DecodedOp& op) { return bind_packed<FmaOp, 3>(d, op); }
template <> ExecFn bind<isa::row::min_f32>(Decoder& d, DecodedOp& op) { return bind_min_max<false>(d, op); }
template <> ExecFn bind<isa::row::max_f32>(Decoder& d, DecodedOp& op) { return bind_min_max<true>(d, op); }
template <> ExecFn bind<isa::row::neg_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(isa::Mod::ftz) ? unary<NegBits<true>, float> : widest<unary<NegBits<false>, float>>();
}
template <> ExecFn bind<isa::row::abs_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(isa::Mod::ftz) ? unary<AbsBits<true>, float> : widest<unary<AbsBits<false>, float>>();
}
template <> ExecFn bind<isa::row::copysign>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return d.has(isa::Mod::f64) ? binary<CopySign, double> : binary<CopySign, float>;
}

}  // namespace drywell::sim
