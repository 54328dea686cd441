// Semantics of table/f64.inc. NaN payloads pass through double-precision arithmetic (PTX ISA 9.7.3).
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/rounded.h"

namespace drywell::sim {
namespace {

using D = Plain<double>;

template <class F>
ExecFn bind1(Decoder& d, DecodedOp& op) { sources(d, op, {1}); return with_rounding<double, F, D>(d, op); }
template <class F>
ExecFn bind2(Decoder& d, DecodedOp& op) { sources(d, op, {1, 2}); return with_rounding<double, F, D, D>(d, op); }
template <class F>
ExecFn bind3(Decoder& d, DecodedOp& op) { sources(d, op, {1, 2, 3}); return with_rounding<double, F, D, D, D>(d, op); }

constexpr uint64_t kSign = uint64_t{1} << 63;
struct NegBits { template <class T> static T apply(T v) { return v ^ kSign; } };
struct AbsBits { template <class T> static T apply(T v) { return v & ~kSign; } };

template <bool Max>
struct MinMax {
  template <class T>
  static T apply(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == Max ? b : a;  // -0 < +0
    return (a < b) == Max ? b : a;
  }
};

}  // namespace

template <> ExecFn bind<isa::Opcode::add_f64>(Decoder& d, DecodedOp& op) { return bind2<AddOp>(d, op); }
template <> ExecFn bind<isa::Opcode::sub_f64>(Decoder& d, DecodedOp& op) { return bind2<SubOp>(d, op); }
template <> ExecFn bind<isa::Opcode::mul_f64>(Decoder& d, DecodedOp& op) { return bind2<MulOp>(d, op); }
template <> ExecFn bind<isa::Opcode::fma_f64>(Decoder& d, DecodedOp& op) { return bind3<FmaOp>(d, op); }
template <> ExecFn bind<isa::Opcode::mad_f64>(Decoder& d, DecodedOp& op) { return bind3<FmaOp>(d, op); }
template <> ExecFn bind<isa::Opcode::div_f64>(Decoder& d, DecodedOp& op) { return bind2<DivOp>(d, op); }
template <> ExecFn bind<isa::Opcode::rcp_f64>(Decoder& d, DecodedOp& op) { return bind1<RcpOp>(d, op); }
template <> ExecFn bind<isa::Opcode::sqrt_f64>(Decoder& d, DecodedOp& op) { return bind1<SqrtOp>(d, op); }
template <> ExecFn bind<isa::Opcode::neg_f64>(Decoder& d, DecodedOp& op) { sources(d, op, {1}); return unary<NegBits, uint64_t>; }
template <> ExecFn bind<isa::Opcode::abs_f64>(Decoder& d, DecodedOp& op) { sources(d, op, {1}); return unary<AbsBits, uint64_t>; }
template <> ExecFn bind<isa::Opcode::min_f64>(Decoder& d, DecodedOp& op) { sources(d, op, {1, 2}); return binary<MinMax<false>, double>; }
template <> ExecFn bind<isa::Opcode::max_f64>(Decoder& d, DecodedOp& op) { sources(d, op, {1, 2}); return binary<MinMax<true>, double>; }

}  // namespace drywell::sim
