// Approximations of halves and of doubles (PTX ISA 9.7.3.13, 9.7.3.15, 9.7.4.9-10), against the C++ functions in extended precision
// and the manual's error bounds.
#include <fmt/format.h>

#include <cmath>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

using Function = long double (*)(long double);

void form(std::vector<ProgramSpec>& out, std::string op, std::string operands, Compare compare, uint64_t ulps, RowFn expect, std::function<void(uint64_t*)> prepare = {}) {
  out.push_back(lane_program(
      "approx", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare), .compare = compare, .ulps = ulps}));
}

struct Half {
  const char* type;
  char letter;
  ieee::Format format;
  Compare compare;
  unsigned lanes;
};
constexpr Half kHalves[] = {{"f16", 'e', ieee::kF16, Compare::ulp_f16, 1},
                            {"f16x2", 'E', ieee::kF16, Compare::ulp_f16, 2},
                            {"bf16", 'k', ieee::kBf16, Compare::ulp_bf16, 1},
                            {"bf16x2", 'K', ieee::kBf16, Compare::ulp_bf16, 2}};

long double value(const ieee::Format& f, uint64_t code) {
  const ieee::Number n = ieee::decode(f, code);
  if (n.kind == ieee::Number::Kind::nan) return std::nanl("");
  const long double magnitude = n.kind == ieee::Number::Kind::infinite ? HUGE_VALL : std::ldexp(static_cast<long double>(n.magnitude), n.exponent);
  return n.negative ? -magnitude : magnitude;
}
// Nearest code of a value, from an exact number with many more digits than a half.
uint64_t code(const ieee::Format& f, long double v, bool ftz) {
  using Kind = ieee::Number::Kind;
  ieee::Number n;
  n.negative = std::signbit(v);
  if (std::isnan(v)) {
    n.kind = Kind::nan;
  } else if (std::isinf(v)) {
    n.kind = Kind::infinite;
  } else if (v != 0) {
    int exponent = 0;
    n.magnitude = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(v), &exponent), 60));
    n.exponent = exponent - 60;
  }
  return ieee::encode(f, n, {.ftz = ftz, .nan = ieee::canonical_nan(f)});
}

void halves(std::vector<ProgramSpec>& out, const Half& h, const char* op, Function f, bool ftz, uint64_t ulps, uint64_t (*prepare)(const Half&, uint64_t)) {
  const unsigned bits = h.format.bits();
  const auto lane = [bits](uint64_t v, unsigned i) { return v >> i * bits & ((uint64_t{1} << bits) - 1); };
  form(
      out, fmt::format("{}.{}", op, h.type), fmt::format("{0}={0}", h.letter), h.compare, ulps,
      [=](const uint64_t* in, uint64_t* o) {
        o[0] = 0;
        for (unsigned i = 0; i < h.lanes; ++i) {
          long double x = value(h.format, lane(in[0], i));
          if (ftz && std::fabs(x) < std::ldexp(1.0L, 1 - h.format.bias())) x = std::copysign(0.0L, x);
          o[0] |= code(h.format, f(x), ftz) << i * bits;
        }
      },
      [=](uint64_t* in) {
        uint64_t v = 0;
        for (unsigned i = 0; i < h.lanes; ++i) v |= prepare(h, lane(in[0], i)) << i * bits;
        in[0] = v;
      });
}

// The bound of tanh is absolute, 2^-10.987 (f16) and 2^-8 (bf16): four places where its value is at least 1/4. Zero, the infinities
// and NaN are exact.
uint64_t large_argument(const Half& h, uint64_t v) {
  const long double x = value(h.format, v);
  if (x == 0 || !std::isfinite(x)) return v;
  const long double fraction = static_cast<long double>(v & 0x7F) / 128;
  return code(h.format, std::copysign(0.26L + 4 * fraction * fraction, x), false);
}
// The bound of ex2 is relative; inputs avoid subnormal results. An overflow is infinite.
uint64_t normal_result(const Half& h, uint64_t v) {
  const long double x = value(h.format, v);
  return std::isfinite(x) && x < 1 - h.format.bias() ? v & ~(uint64_t{1} << (h.format.bits() - 1)) : v;
}

// Takes the upper word of a and of the result, with subnormals flushed; the lower word of the result is 0 (9.7.3.13). 20 bits
// of fraction: PTX has no bound; this test allows two units of them.
void doubles(std::vector<ProgramSpec>& out, const char* op, Function f, bool ftz, uint64_t ulps) {
  form(
      out, op, "g=g", Compare::ulp_f64, ulps,
      [f, ftz](const uint64_t* in, uint64_t* o) {
        const auto flushed = [](double v) { return std::fabs(v) < 0x1p-1022 ? std::copysign(0.0, v) : v; };
        double v = detail::from_bits<double>(ftz ? in[0] & ~uint64_t{0xFFFFFFFF} : in[0]);
        if (ftz) v = flushed(v);
        const auto r = static_cast<double>(f(v));
        o[0] = detail::to_bits(ftz ? flushed(r) : r);
      });
}

long double exp2l_of(long double v) { return std::exp2(v); }
long double tanhl_of(long double v) { return std::tanh(v); }

}  // namespace

void add_approx_half(std::vector<ProgramSpec>& out) {
  for (const Half& h : kHalves) {
    const bool is_f16 = h.compare == Compare::ulp_f16;
    halves(out, h, "tanh.approx", tanhl_of, false, is_f16 ? 3 : 2, large_argument);
    // 2^-9.9 and 2^-7 relative: up to 2.2 and 2 places.
    halves(out, h, is_f16 ? "ex2.approx" : "ex2.approx.ftz", exp2l_of, !is_f16, 2, normal_result);
  }
  constexpr uint64_t kUpperPlace = uint64_t{1} << 32;
  doubles(
      out, "rcp.approx.ftz.f64", [](long double v) { return 1 / v; }, true, 2 * kUpperPlace);
  doubles(
      out, "rsqrt.approx.ftz.f64", [](long double v) { return 1 / std::sqrt(v); }, true, 2 * kUpperPlace);
  // 2^-52 is the manual's bound of the full form (9.7.3.15): up to two places.
  doubles(
      out, "rsqrt.approx.f64", [](long double v) { return 1 / std::sqrt(v); }, false, 2);
}

}  // namespace drywell::kernels::conformance
