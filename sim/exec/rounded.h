// Lane loops of IEEE arithmetic in any rounding mode. Rounding to nearest is the host's default mode and vectorises; the
// directed modes are rare and switch the host's mode around one lane loop.
#pragma once

#include <cfenv>
#include <utility>

#include "drywell/sim/numeric/convert_fast.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"
#include "sim/state/payload/rounding.h"

namespace drywell::sim {

struct AddOp {
  template <class T> static T apply(T a, T b) { return a + b; }
};
struct SubOp {
  template <class T> static T apply(T a, T b) { return a - b; }
};
struct MulOp {
  template <class T> static T apply(T a, T b) { return a * b; }
  static float scaled(float a, float b, float scale) { return a * scale * b; }
};
struct DivOp {
  template <class T> static T apply(T a, T b) { return a / b; }
  static float scaled(float a, float b, float scale) { return a * scale / b; }
};
struct FmaOp {
  template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); }
  static float scaled(float a, float b, float c, float scale) { return std::fma(a * scale, b, c * scale); }
};
struct RcpOp {
  template <class T> static T apply(T a) { return T{1} / a; }
  static float scaled(float a, float scale) { return scale / a; }
};
struct SqrtOp {
  template <class T> static T apply(T a) { return std::sqrt(a); }
};

class RoundingScope {
 public:
  explicit RoundingScope(isa::Mod m) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const int i = m == isa::Mod::rz ? 1 : m == isa::Mod::rm ? 2
                                      : m == isa::Mod::rp   ? 3
                                                            : 0;
    std::fesetround(kModes[i]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

/// F on floats with PTX's flushing, saturation and NaN. A result counts as subnormal if it is subnormal after rounding with an unbounded
/// exponent (H200): 2^-126 (1 - 2^-24) is flushed although it rounds to 2^-126 on the grid of the subnormals. F::scaled returns the
/// result times a power of two; no scaled value is subnormal.
template <class F, bool Ftz, bool Sat>
struct F32 {
  static float in(float v) { return Ftz ? flush(v) : v; }
  static float out(float r) {
    if constexpr (Ftz) r = flush(r);
    if constexpr (Sat) return saturate(r);
    return canonical(r);
  }
  template <class... A>
  static float apply(A... a) {
    float r = F::apply(in(a)...);
    if constexpr (Ftz && requires { F::scaled(in(a)..., 0x1p64f); }) {
      if (std::fabs(r) == 0x1p-126f && std::fabs(F::scaled(in(a)..., 0x1p64f)) < 0x1p-62f) r = std::copysign(0.0f, r);
    }
    return out(r);
  }
};

/// Conversion of a source lane to a number.
template <class T>
struct Plain {
  static T read(const Warp& w, Src s, uint32_t i) { return from_lane<T>(lanes<T>(w, s)[i]); }
};
struct F16Source {
  static float read(const Warp& w, Src s, uint32_t i) { return std::bit_cast<float>(numeric::f16_to_f32(lanes<uint32_t>(w, s)[i] & 0xFFFF)); }
};
struct Bf16Source {
  static float read(const Warp& w, Src s, uint32_t i) { return std::bit_cast<float>(numeric::bf16_to_f32(lanes<uint32_t>(w, s)[i] & 0xFFFF)); }
};

/// d = X::apply(source 0, source 1, …), rounded to nearest.
template <class D, class X, class... Read>
Effect nearest(Warp& w, const DecodedOp& op, LaneMask mask) {
  Lane<D> r[kWarpSize];
  [&]<size_t... K>(std::index_sequence<K...>) {
    for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<D>(X::apply(Read::read(w, op.src[K], i)...));
  }
  (std::index_sequence_for<Read...>());
  store_masked(lanes<D>(w, op.dst), r, mask);
  return Effect::next;
}

/// d = X::apply(…) in the rounding mode of payload::Rounding. The operands pass through volatile memory so that no arithmetic leaves the scope.
template <class D, class X, class... Read>
[[gnu::optimize("rounding-math")]] Effect directed(Warp& w, const DecodedOp& op, LaneMask mask) {
  const RoundingScope scope(op.as<payload::Rounding>().mode);
  for_lanes(mask, [&](uint32_t i) {
    [&]<size_t... K>(std::index_sequence<K...>) {
      volatile D v[] = {Read::read(w, op.src[K], i)...};
      lanes<D>(w, op.dst)[i] = to_lane<D>(X::apply(D{v[K]}...));
    }
    (std::index_sequence_for<Read...>());
  });
  return Effect::next;
}

/// Selects the version by the row's rounding slot; the sources are already bound.
template <class D, class X, class... Read>
ExecFn with_rounding(Decoder& d, DecodedOp& op) {
  const isa::Mod rnd = d.mod(isa::Slot::rnd);
  if (rnd == isa::Mod::none || rnd == isa::Mod::rn) return widest<nearest<D, X, Read...>>();
  op.emplace<payload::Rounding>({rnd});
  return directed<D, X, Read...>;
}
template <class F, class... Read>
ExecFn bind_f32(Decoder& d, DecodedOp& op) {
  const bool ftz = d.has(isa::Mod::ftz), sat = d.has(isa::Mod::sat);
  if (ftz) return sat ? with_rounding<float, F32<F, true, true>, Read...>(d, op) : with_rounding<float, F32<F, true, false>, Read...>(d, op);
  return sat ? with_rounding<float, F32<F, false, true>, Read...>(d, op) : with_rounding<float, F32<F, false, false>, Read...>(d, op);
}

}  // namespace drywell::sim
