// Semantics of table/approx.inc. The unit's tables are not published: the function is evaluated in double precision and
// rounded once, which is within every documented bound (docs/facts/numerics.md §2.3).
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/half_math.h"
#include "sim/exec/rounded.h"
#include "sim/state/payload/half.h"

namespace drywell::sim {
namespace {

using isa::Mod;

struct Rcp { static double apply(double a) { return 1.0 / a; } };
struct Sqrt { static double apply(double a) { return std::sqrt(a); } };
struct Rsqrt { static double apply(double a) { return 1.0 / std::sqrt(a); } };
struct Sin { static double apply(double a) { return std::sin(a); } };
struct Cos { static double apply(double a) { return std::cos(a); } };
struct Log2 { static double apply(double a) { return std::log2(a); } };
struct Exp2 { static double apply(double a) { return std::exp2(a); } };
struct Tanh { static double apply(double a) { return std::tanh(a); } };

template <class F>
struct InDouble { static float apply(float a) { return static_cast<float>(F::apply(a)); } };
template <class F>
ExecFn bind_f32_approx(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return bind_f32<InDouble<F>, Plain<float>>(d, op);
}

// a * (1 / b), whose reciprocal vanishes for |b| > 2^126 (PTX ISA 9.7.3.8).
struct DivApprox {
  static float apply(float a, float b) { return std::fabs(b) > 0x1p126f ? a * std::copysign(0.0f, b) : a / b; }
};

// Only the upper words of argument and result count; subnormals are zeros (H200: the quotient is cut off, not rounded).
double flush64(double v) { return std::fabs(v) < 0x1p-1022 ? std::copysign(0.0, v) : v; }
template <class F>
struct UpperWord {
  static double apply(double a) {
    const double r = flush64(F::apply(flush64(upper(a))));
    return std::isnan(r) ? std::bit_cast<double>(uint64_t{0x7FFFFFFF'00000000}) : upper(r);
  }
  static double upper(double v) { return std::bit_cast<double>(std::bit_cast<uint64_t>(v) & ~uint64_t{0xFFFFFFFF}); }
};

template <class Fmt, class F, bool Pair>
Effect half_approx(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool ftz = op.as<payload::Half>().ftz;
  const auto one = [ftz](uint32_t h) {
    const uint32_t r = Fmt::round(F::apply(Fmt::value(ftz ? Fmt::flush(h) : h)));
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

template <> ExecFn bind<isa::row::rcp_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Rcp>(d, op); }
template <> ExecFn bind<isa::row::sqrt_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Sqrt>(d, op); }
template <> ExecFn bind<isa::row::rsqrt_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Rsqrt>(d, op); }
template <> ExecFn bind<isa::row::sin_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Sin>(d, op); }
template <> ExecFn bind<isa::row::cos_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Cos>(d, op); }
template <> ExecFn bind<isa::row::lg2_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Log2>(d, op); }
template <> ExecFn bind<isa::row::ex2_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Exp2>(d, op); }
template <> ExecFn bind<isa::row::tanh_f32_approx>(Decoder& d, DecodedOp& op) { return bind_f32_approx<Tanh>(d, op); }
template <> ExecFn bind<isa::row::div_f32_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return bind_f32<DivApprox, Plain<float>, Plain<float>>(d, op);
}
template <> ExecFn bind<isa::row::div_f32_full>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return bind_f32<DivOp, Plain<float>, Plain<float>>(d, op);
}
template <> ExecFn bind<isa::row::rcp_f64_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return nearest<double, UpperWord<Rcp>, Plain<double>>;
}
template <> ExecFn bind<isa::row::rsqrt_f64_approx>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(Mod::ftz) ? nearest<double, UpperWord<Rsqrt>, Plain<double>> : nearest<double, Rsqrt, Plain<double>>;
}
template <> ExecFn bind<isa::row::tanh_half_approx>(Decoder& d, DecodedOp& op) { return bind_half_approx<Tanh>(d, op); }
template <> ExecFn bind<isa::row::ex2_half_approx>(Decoder& d, DecodedOp& op) { return bind_half_approx<Exp2>(d, op); }

}  // namespace drywell::sim
