// Semantics of table/approx.inc, as the multifunction unit of an H200 computes them (docs/facts/special-functions.md).
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/half_math.h"
#include "sim/exec/rounded.h"
#include "sim/numeric/special/special_functions.h"
#include "sim/state/payload/half.h"

namespace drywell::sim {
namespace {

using isa::Mod;

// One function serves the forms with and without .ftz: with flushed arguments and a flushed result it equals the .ftz form.
struct RcpUnit {
  static float apply(float a) { return numeric::rcp_approx(a); }
};
struct SqrtUnit {
  static float apply(float a) { return numeric::sqrt_approx(a); }
};
struct RsqrtUnit {
  static float apply(float a) { return numeric::rsqrt_approx(a); }
};
struct SinUnit {
  static float apply(float a) { return numeric::sin_approx(a); }
};
struct CosUnit {
  static float apply(float a) { return numeric::cos_approx(a); }
};
struct Lg2Unit {
  static float apply(float a) { return numeric::lg2_approx(a); }
};
struct Ex2Unit {
  static float apply(float a) { return numeric::ex2_approx(a); }
};
struct TanhUnit {
  static float apply(float a) { return numeric::tanh_approx(a); }
};
template <class F>
ExecFn bind_f32_approx(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return bind_f32<F, Plain<float>>(d, op);
}

struct DivApprox {
  static float apply(float a, float b) { return numeric::div_approx(a, b); }
  static float scaled(float a, float b, float scale) { return numeric::div_approx(a * scale, b); }
};
struct DivFull {
  static float apply(float a, float b) { return numeric::div_full(a, b); }
  static float scaled(float a, float b, float scale) { return numeric::div_full(a * scale, b); }
};

// The 64-bit forms apply the 32-bit function to the upper 20 bits of the fraction and truncate its result to 20 bits.
double cut_off_to_upper_word(float v) { return std::bit_cast<float>(std::bit_cast<uint32_t>(v) & ~7u); }

struct UpperRcp {
  static double apply(double a) {
    if (a == 0 || !std::isfinite(a)) return 1.0 / a;
    int exponent = 0;
    const auto mantissa = static_cast<float>(2 * std::frexp(std::fabs(a), &exponent));
    return std::copysign(std::ldexp(cut_off_to_upper_word(numeric::rcp_approx(mantissa)), 1 - exponent), a);
  }
};
struct Rsqrt {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};
struct UpperRsqrt {
  static double apply(double a) {
    if (!(a > 0) || !std::isfinite(a)) return Rsqrt::apply(a);
    int exponent = 0;
    const auto mantissa = static_cast<float>(2 * std::frexp(a, &exponent));
    const int odd = (exponent - 1) & 1;  // an argument in [1, 4) times an even power of two
    return std::ldexp(cut_off_to_upper_word(numeric::rsqrt_approx(mantissa * static_cast<float>(1 + odd))), -(exponent - 1 - odd) / 2);
  }
};

// Only the upper words of argument and result are significant; subnormals are zeros.
double flush64(double v) { return std::fabs(v) < 0x1p-1022 ? std::copysign(0.0, v) : v; }
template <class F>
struct UpperWord {
  static double apply(double a) {
    const double r = flush64(F::apply(flush64(upper(a))));
    return std::isnan(r) ? std::bit_cast<double>(uint64_t{0x7FFFFFFF'00000000}) : upper(r);
  }
  static double upper(double v) { return std::bit_cast<double>(std::bit_cast<uint64_t>(v) & ~uint64_t{0xFFFFFFFF}); }
};

// The 16-bit forms truncate the result of the 32-bit function. A result beyond the largest number is infinite.
uint32_t cut_off(float v, F16Format) {
  const auto bits = std::bit_cast<uint32_t>(v), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF, fraction = (bits & 0x7FFFFF) | 0x800000;
  if (magnitude > 0x7F800000) return 0x7FFF;
  if (magnitude >= 0x47800000) return sign | 0x7C00;
  if (magnitude >= 0x38800000) return sign | ((magnitude - 0x38000000) >> 13);
  return magnitude < 0x33800000 ? sign : sign | fraction >> (126 - (magnitude >> 23));  // subnormal: units of 2^-24
}
uint32_t cut_off(float v, Bf16Format) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : bits >> 16;
}

template <class Fmt, class F, bool Pair>
Effect half_approx(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool ftz = op.as<payload::Half>().ftz;
  const auto one = [ftz](uint32_t h) {
    const uint32_t r = cut_off(F::apply(static_cast<float>(Fmt::value(ftz ? Fmt::flush(h) : h))), Fmt{});
    return ftz ? Fmt::flush(r) : r;
  };
  map1<uint32_t, uint32_t>(w, op, mask, [one](uint32_t v) { return Pair ? one(v >> 16) << 16 | one(v & 0xFFFF) : one(v & 0xFFFF); });
  return Effect::next;
}
template <class F>
ExecFn bind_half_approx(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  op.emplace<payload::Half>({.ftz = d.has(Mod::ftz)});
  switch (d.mod(isa::Slot::type)) {
    case Mod::f16: return half_approx<F16Format, F, false>;
    case Mod::f16x2: return half_approx<F16Format, F, true>;
    case Mod::bf16: return half_approx<Bf16Format, F, false>;
    default: return half_approx<Bf16Format, F, true>;
  }
}

}  // namespace

template <> ExecFn bind<isa::row::rcp_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<RcpUnit>(d, op); }
template <> ExecFn bind<isa::row::sqrt_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<SqrtUnit>(d, op); }
template <> ExecFn bind<isa::row::rsqrt_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<RsqrtUnit>(d, op); }
template <> ExecFn bind<isa::row::sin_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<SinUnit>(d, op); }
template <> ExecFn bind<isa::row::cos_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<CosUnit>(d, op); }
template <> ExecFn bind<isa::row::lg2_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Lg2Unit>(d, op); }
template <> ExecFn bind<isa::row::ex2_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Ex2Unit>(d, op); }
template <> ExecFn bind<isa::row::tanh_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<TanhUnit>(d, op); }
template <> ExecFn bind<isa::row::div_f32_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return bind_f32<DivApprox, Plain<float>, Plain<float>>(d, op);
}
template <> ExecFn bind<isa::row::div_f32_full>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return bind_f32<DivFull, Plain<float>, Plain<float>>(d, op);
}
template <> ExecFn bind<isa::row::rcp_f64_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return nearest<double, UpperWord<UpperRcp>, Plain<double>>;
}
template <> ExecFn bind<isa::row::rsqrt_f64_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(Mod::ftz) ? nearest<double, UpperWord<UpperRsqrt>, Plain<double>> : nearest<double, Rsqrt, Plain<double>>;
}
template <> ExecFn bind<isa::row::tanh_half_approx>(Decoder& d, DecodedOp& op) { return bind_half_approx<TanhUnit>(d, op); }
template <> ExecFn bind<isa::row::ex2_half_approx>(Decoder& d, DecodedOp& op) { return bind_half_approx<Ex2Unit>(d, op); }

}  // namespace drywell::sim
