// Approximations of float32 (PTX ISA 9.7.3), against the C++ functions in extended precision and the manual's error bounds.
#include <fmt/format.h>

#include <cmath>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

using Function = long double (*)(long double);

float flush(float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; }
float argument(uint64_t bits, bool ftz) {
  const auto v = detail::from_bits<float>(bits);
  return ftz ? flush(v) : v;
}
uint64_t result(long double v, bool ftz) { return detail::to_bits(ftz ? flush(static_cast<float>(v)) : static_cast<float>(v)); }

void form(std::vector<ProgramSpec>& out, std::string op, std::string operands, uint32_t ulps, RowFn expect, std::function<void(uint64_t*)> prepare) {
  out.push_back(lane_program("approx", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare), .compare = Compare::ulp_f32, .ulps = ulps}));
}

// A relative error of 2^-n is up to 2^(24 - n) units of the last place.
void unary(std::vector<ProgramSpec>& out, const char* stem, uint32_t ulps, Function f, std::function<void(uint64_t*)> prepare = {}) {
  for (const bool ftz : {false, true}) {
    if (ftz && std::string_view(stem) == "tanh") continue;
    form(
        out, fmt::format("{}.approx{}.f32", stem, ftz ? ".ftz" : ""), "f=f", ulps,
        [f, ftz](const uint64_t* in, uint64_t* o) { o[0] = result(f(argument(in[0], ftz)), ftz); }, prepare);
  }
}

// The bound of sin and cos is absolute, 2^-20.5 in [-pi, pi]: where both exceed 1/2 that is 12 units of the last place.
void into_first_octants(uint64_t* in) {
  const auto v = detail::from_bits<float>(in[0]);
  if (v == 0 || !std::isfinite(v)) return;
  const float magnitude = 0.53f + 0.5f * static_cast<float>(in[0] & 0x7FFFFF) * 0x1p-23f;
  in[0] = detail::to_bits(std::copysign(magnitude, v));
}
// The bound of lg2 is absolute inside (0.5, 2): inputs avoid this range.
void away_from_one(uint64_t* in) {
  const auto v = detail::from_bits<float>(in[0]);
  if (v >= 0.5f && v <= 2.0f) in[0] = detail::to_bits(v * 8);
}

// div.approx has a bound for |b| in [2^-126, 2^126]; above that the result is 0, or NaN for infinite a (9.7.3.8).
void quotients(std::vector<ProgramSpec>& out) {
  const auto normal_divisor = [](uint64_t* in) {
    const float b = std::fabs(detail::from_bits<float>(in[1]));
    if (b > 0 && b < 0x1p-126f) in[1] = 0x3F800000;
  };
  for (const bool ftz : {false, true}) {
    const char* modifier = ftz ? ".ftz" : "";
    form(
        out, fmt::format("div.approx{}.f32", modifier), "f=ff", 2, [ftz](const uint64_t* in, uint64_t* o) {
          const long double a = argument(in[0], ftz), b = argument(in[1], ftz);
          o[0] = result(std::fabs(b) > 0x1p126L ? a * 0 : a / b, ftz);
        },
        normal_divisor);
    form(out, fmt::format("div.full{}.f32", modifier), "f=ff", 2, [ftz](const uint64_t* in, uint64_t* o) {
      o[0] = result(static_cast<long double>(argument(in[0], ftz)) / argument(in[1], ftz), ftz);
    },
         {});
  }
}

}  // namespace

void add_approx(std::vector<ProgramSpec>& out) {
  unary(out, "rcp", 1, [](long double v) { return 1 / v; });
  unary(out, "sqrt", 2, [](long double v) { return std::sqrt(v); });
  unary(out, "rsqrt", 3, [](long double v) { return 1 / std::sqrt(v); });
  unary(
      out, "sin", 12, [](long double v) { return std::sin(v); }, into_first_octants);
  unary(
      out, "cos", 12, [](long double v) { return std::cos(v); }, into_first_octants);
  unary(
      out, "lg2", 4, [](long double v) { return std::log2(v); }, away_from_one);
  unary(out, "ex2", 2, [](long double v) { return std::exp2(v); });
  unary(out, "tanh", 8192, [](long double v) { return std::tanh(v); });
  quotients(out);
}

}  // namespace drywell::kernels::conformance
