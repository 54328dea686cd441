// Semantics of table/float.inc: single-precision arithmetic. NaN results are 7FFFFFFF (facts/numerics.md §2.3).
#include <cfenv>
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"

namespace drywell::sim {
namespace {

struct AddOp { static float apply(float a, float b) { return a + b; } };
struct SubOp { static float apply(float a, float b) { return a - b; } };
struct MulOp { static float apply(float a, float b) { return a * b; } };
struct DivOp { static float apply(float a, float b) { return a / b; } };
struct FmaOp { static float apply(float a, float b, float c) { return std::fma(a, b, c); } };
struct RcpOp { static float apply(float a) { return 1.0f / a; } };

// Directed rounding is rare; it switches the host's rounding mode around one lane loop.
class RoundingScope {
 public:
  explicit RoundingScope(isa::Mod m) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const int i = m == isa::Mod::rz ? 1 : m == isa::Mod::rm ? 2 : m == isa::Mod::rp ? 3 : 0;
    std::fesetround(kModes[i]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
};

// Ftz and sat are compile-time; rounding other than nearest goes through op.extra.
template <class F, bool Ftz, bool Sat>
struct Wrapped {
  static float in(float v) { return Ftz ? flush(v) : v; }
  static float out(float r) {
    if constexpr (Ftz) r = flush(r);
    if constexpr (Sat) return saturate(r);
    return canonical(r);
  }
  template <class... A>
  static float apply(A... a) { return out(F::apply(in(a)...)); }
};

template <class F, bool Ftz, bool Sat, size_t N>
Effect arith(Warp& w, const DecodedOp& op, LaneMask mask) {
  using X = Wrapped<F, Ftz, Sat>;
  if constexpr (N == 1) map1<float, float>(w, op, mask, [](float a) { return X::apply(a); });
  if constexpr (N == 2) map2<float, float>(w, op, mask, [](float a, float b) { return X::apply(a, b); });
  if constexpr (N == 3) map3<float, float, float>(w, op, mask, [](float a, float b, float c) { return X::apply(a, b, c); });
  return Effect::next;
}
template <class F, bool Ftz, bool Sat, size_t N>
[[gnu::optimize("rounding-math")]] Effect arith_rounded(Warp& w, const DecodedOp& op, LaneMask mask) {
  const RoundingScope scope(static_cast<isa::Mod>(op.extra));
  for_lanes(mask, [&](uint32_t i) {
    volatile float v[3] = {};
    for (size_t k = 0; k < N; ++k) v[k] = from_lane<float>(lanes<float>(w, op.src[k])[i]);
    using X = Wrapped<F, Ftz, Sat>;
    float r = 0;
    if constexpr (N == 1) r = X::apply(float{v[0]});
    if constexpr (N == 2) r = X::apply(float{v[0]}, float{v[1]});
    if constexpr (N == 3) r = X::apply(float{v[0]}, float{v[1]}, float{v[2]});
    lanes<float>(w, op.dst)[i] = to_lane<float>(r);
  });
  return Effect::next;
}

template <class F, size_t N>
ExecFn bind_arith(Decoder& d, DecodedOp& op) {
  if constexpr (N == 1) sources(d, op, {1});
  if constexpr (N == 2) sources(d, op, {1, 2});
  if constexpr (N == 3) sources(d, op, {1, 2, 3});
  const isa::Mod rnd = d.mod(isa::Slot::rnd);
  const bool ftz = d.has(isa::Mod::ftz), sat = d.has(isa::Mod::sat);
  if (rnd != isa::Mod::none && rnd != isa::Mod::rn) {
    op.extra = static_cast<uint32_t>(rnd);
    if (ftz) return sat ? arith_rounded<F, true, true, N> : arith_rounded<F, true, false, N>;
    return sat ? arith_rounded<F, false, true, N> : arith_rounded<F, false, false, N>;
  }
  if (ftz) return sat ? arith<F, true, true, N> : arith<F, true, false, N>;
  return sat ? arith<F, false, true, N> : arith<F, false, false, N>;
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
template <bool Max, bool Nan, bool Ftz>
Effect min_max3(Warp& w, const DecodedOp& op, LaneMask mask) {
  using F = MinMax<Max, Nan, Ftz>;
  map3<float, float, float>(w, op, mask, [](float a, float b, float c) { return F::template apply<float>(F::template apply<float>(a, b), c); });
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
    return min_max3<Max, Nan, Ftz>;
  }
  return d.has(isa::Mod::xorsign) ? min_max_xorsign<Max, Nan, Ftz> : binary<MinMax<Max, Nan, Ftz>, float>;
}
template <bool Max>
ExecFn bind_min_max(Decoder& d, DecodedOp& op) {
  const bool nan = d.has(isa::Mod::NaN), ftz = d.has(isa::Mod::ftz);
  if (nan) return ftz ? pick_min_max<Max, true, true>(d, op) : pick_min_max<Max, true, false>(d, op);
  return ftz ? pick_min_max<Max, false, true>(d, op) : pick_min_max<Max, false, false>(d, op);
}

// neg and abs work on the bits; NaN payloads pass (PTX leaves them open), .ftz flushes.
template <bool Ftz>
struct NegBits { template <class T> static T apply(T v) { return std::bit_cast<T>(std::bit_cast<uint32_t>(Ftz ? flush(v) : v) ^ 0x80000000u); } };
template <bool Ftz>
struct AbsBits { template <class T> static T apply(T v) { return std::bit_cast<T>(std::bit_cast<uint32_t>(Ftz ? flush(v) : v) & 0x7FFFFFFFu); } };

}  // namespace

template <> ExecFn bind<isa::Opcode::add_f32>(Decoder& d, DecodedOp& op) { return bind_arith<AddOp, 2>(d, op); }
template <> ExecFn bind<isa::Opcode::sub_f32>(Decoder& d, DecodedOp& op) { return bind_arith<SubOp, 2>(d, op); }
template <> ExecFn bind<isa::Opcode::mul_f32>(Decoder& d, DecodedOp& op) { return bind_arith<MulOp, 2>(d, op); }
template <> ExecFn bind<isa::Opcode::fma_f32>(Decoder& d, DecodedOp& op) { return bind_arith<FmaOp, 3>(d, op); }
template <> ExecFn bind<isa::Opcode::div_f32_ieee>(Decoder& d, DecodedOp& op) { return bind_arith<DivOp, 2>(d, op); }
template <> ExecFn bind<isa::Opcode::rcp_f32_ieee>(Decoder& d, DecodedOp& op) { return bind_arith<RcpOp, 1>(d, op); }
template <> ExecFn bind<isa::Opcode::rcp_f32_approx>(Decoder& d, DecodedOp& op) { return bind_arith<RcpOp, 1>(d, op); }
template <> ExecFn bind<isa::Opcode::min_f32>(Decoder& d, DecodedOp& op) { return bind_min_max<false>(d, op); }
template <> ExecFn bind<isa::Opcode::max_f32>(Decoder& d, DecodedOp& op) { return bind_min_max<true>(d, op); }
template <> ExecFn bind<isa::Opcode::neg_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(isa::Mod::ftz) ? unary<NegBits<true>, float> : unary<NegBits<false>, float>;
}
template <> ExecFn bind<isa::Opcode::abs_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(isa::Mod::ftz) ? unary<AbsBits<true>, float> : unary<AbsBits<false>, float>;
}

}  // namespace drywell::sim
