// Semantics of table/f64.inc. NaN payloads pass through double-precision arithmetic (PTX ISA 9.7.3), quieted. With several NaN inputs
// the priority is measured (H200): b, then c, then a; in a quotient a.
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/rounded.h"

namespace drywell::sim {
namespace {

using D = Plain<double>;

double quiet(double v) { return std::bit_cast<double>(std::bit_cast<uint64_t>(v) | uint64_t{1} << 51); }
template <class F>
struct PassNan {
  static double apply(double a, double b) { return std::isnan(b) ? quiet(b) : std::isnan(a) ? quiet(a)
                                                                                            : F::apply(a, b); }
  static double apply(double a, double b, double c) { return std::isnan(b) ? quiet(b) : std::isnan(c) ? quiet(c)
                                                                                    : std::isnan(a)   ? quiet(a)
                                                                                                      : F::apply(a, b, c); }
};

template <class F>
ExecFn bind1(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return with_rounding<double, F, D>(d, op);
}
template <class F>
ExecFn bind2(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return with_rounding<double, F, D, D>(d, op);
}
template <class F>
ExecFn bind3(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  return with_rounding<double, F, D, D, D>(d, op);
}

// A NaN keeps its sign.
struct NegBits {
  template <class T> static T apply(T v) { return std::isnan(v) ? quiet(v) : -v; }
};
struct AbsBits {
  template <class T> static T apply(T v) { return std::isnan(v) ? quiet(v) : std::fabs(v); }
};

template <bool Max>
struct MinMax {
  template <class T>
  static T apply(T a, T b) {
    if (std::isnan(a)) return std::isnan(b) ? quiet(b) : b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == Max ? b : a;  // -0 < +0
    return (a < b) == Max ? b : a;
  }
};

}  // namespace

template <> ExecFn bind<isa::row::add_f64>(Decoder& d, DecodedOp& op) { return bind2<PassNan<AddOp>>(d, op); }
template <> ExecFn bind<isa::row::sub_f64>(Decoder& d, DecodedOp& op) { return bind2<PassNan<SubOp>>(d, op); }
template <> ExecFn bind<isa::row::mul_f64>(Decoder& d, DecodedOp& op) { return bind2<PassNan<MulOp>>(d, op); }
template <> ExecFn bind<isa::row::fma_f64>(Decoder& d, DecodedOp& op) { return bind3<PassNan<FmaOp>>(d, op); }
template <> ExecFn bind<isa::row::mad_f64>(Decoder& d, DecodedOp& op) { return bind3<PassNan<FmaOp>>(d, op); }
template <> ExecFn bind<isa::row::div_f64>(Decoder& d, DecodedOp& op) { return bind2<DivOp>(d, op); }
template <> ExecFn bind<isa::row::rcp_f64>(Decoder& d, DecodedOp& op) { return bind1<RcpOp>(d, op); }
template <> ExecFn bind<isa::row::sqrt_f64>(Decoder& d, DecodedOp& op) { return bind1<SqrtOp>(d, op); }
template <> ExecFn bind<isa::row::neg_f64>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return unary<NegBits, double>;
}
template <> ExecFn bind<isa::row::abs_f64>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return unary<AbsBits, double>;
}
template <> ExecFn bind<isa::row::min_f64>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return binary<MinMax<false>, double>;
}
template <> ExecFn bind<isa::row::max_f64>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return binary<MinMax<true>, double>;
}

}  // namespace drywell::sim
