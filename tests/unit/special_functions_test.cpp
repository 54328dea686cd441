// The multifunction unit's functions against words measured on an H200 (docs/facts/special-functions.md): hashes of whole
// intervals, single words, and the special values of PTX ISA 9.7.3.
#include "sim/numeric/special/special_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace drywell::numeric {
namespace {

enum class Function {
  rcp,
  rsqrt,
  sqrt,
  ex2,
  lg2,
  sin,
  cos,
  tanh
};
const char* const kNames[] = {"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh"};

struct Interval {
  Function function;
  uint32_t first, step, count;
  uint64_t all, sampled;
};
const Interval kIntervals[] = {
#include "special_functions_intervals.inc"
};

struct Word {
  Function function;
  uint32_t argument, result;
};
const Word kWords[] = {
#include "special_functions_words.inc"
};

/// Sanitizers and debug builds take every 127th argument.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr uint32_t kSample = 1;
#else
constexpr uint32_t kSample = 127;
#endif

template <class F>
uint64_t hash(const Interval& v, F f) {
  uint64_t h = 0xCBF29CE484222325;
  for (uint32_t i = 0; i < v.count; i += kSample) h = (h ^ std::bit_cast<uint32_t>(f(std::bit_cast<float>(v.first + i * v.step)))) * 0x100000001B3;
  return h;
}

/// Calls f with the function as a lambda.
template <class F>
auto with(Function function, F f) {
  switch (function) {
    case Function::rcp: return f([](float a) { return rcp_approx_ftz(a); });
    case Function::rsqrt: return f([](float a) { return rsqrt_approx_ftz(a); });
    case Function::sqrt: return f([](float a) { return sqrt_approx_ftz(a); });
    case Function::ex2: return f([](float a) { return ex2_approx_ftz(a); });
    case Function::lg2: return f([](float a) { return lg2_approx_ftz(a); });
    case Function::sin: return f([](float a) { return sin_approx(a); });
    case Function::cos: return f([](float a) { return cos_approx(a); });
    case Function::tanh: break;
  }
  return f([](float a) { return tanh_approx(a); });
}
uint32_t result(Function function, uint32_t argument) {
  return with(function, [argument](auto f) { return std::bit_cast<uint32_t>(f(std::bit_cast<float>(argument))); });
}

TEST(SpecialFunctions, EveryMeasuredIntervalHasItsHash) {
  for (const Interval& v : kIntervals) {
    const uint64_t h = with(v.function, [&v](auto f) { return hash(v, f); });
    EXPECT_EQ(h, kSample == 1 ? v.all : v.sampled) << kNames[static_cast<int>(v.function)] << " from " << std::hex << v.first;
  }
}

TEST(SpecialFunctions, MeasuredWords) {
  for (const Word& w : kWords)
    EXPECT_EQ(result(w.function, w.argument), w.result) << kNames[static_cast<int>(w.function)] << " of " << std::hex << w.argument;
}

// The squarer's definition: a sum over the bits of one factor of what the truncation leaves of the other.
TEST(SpecialFunctions, SquarerDropsTheLowPartialProducts) {
  for (uint32_t x = 0; x < 1u << 17; ++x) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 17; ++i) sum += (x >> i & 1) * (x >> (18 - i));
    ASSERT_EQ(special::square(x), static_cast<int32_t>(sum >> 1)) << x;
  }
}

constexpr uint32_t kInf = 0x7F800000, kMinusInf = 0xFF800000, kNan = 0x7FFFFFFF, kMinusZero = 0x80000000, kOne = 0x3F800000;
using Table = std::vector<std::pair<uint32_t, uint32_t>>;

template <class F>
void expect_words(const char* name, F f, const Table& table) {
  for (const auto& [argument, expected] : table)
    EXPECT_EQ(std::bit_cast<uint32_t>(f(std::bit_cast<float>(argument))), expected) << name << " of " << std::hex << argument;
}

// PTX ISA 9.7.3.13 to 9.7.3.22.
TEST(SpecialFunctions, SpecialValues) {
  for (uint32_t nan : {0x7F800001u, 0x7FC00000u, 0xFFC12345u, 0xFFFFFFFFu}) {
    for (Function f : {Function::rcp, Function::rsqrt, Function::sqrt, Function::ex2, Function::lg2, Function::sin, Function::cos, Function::tanh})
      EXPECT_EQ(result(f, nan), kNan) << kNames[static_cast<int>(f)];
  }
  expect_words("rcp", rcp_approx_ftz, {{0, kInf}, {kMinusZero, kMinusInf}, {1, kInf}, {0x807FFFFF, kMinusInf}, {kInf, 0}, {kMinusInf, kMinusZero}, {0x7E800000, 0x00800000}, {0x7E800001, 0}, {0xFF7FFFFF, kMinusZero}});
  expect_words("rsqrt", rsqrt_approx_ftz, {{0, kInf}, {kMinusZero, kMinusInf}, {1, kInf}, {0x80000001, kMinusInf}, {0xBF800000, kNan}, {kInf, 0}, {kMinusInf, kNan}, {0x00800000, 0x5F000000}, {0x40800000, 0x3F000000}});
  expect_words("sqrt", sqrt_approx_ftz, {{0, 0}, {kMinusZero, kMinusZero}, {1, 0}, {0x80000001, kMinusZero}, {0xBF800000, kNan}, {kInf, kInf}, {kMinusInf, kNan}, {0x00800000, 0x20000000}, {0x40800000, 0x40000000}});
  expect_words("ex2", ex2_approx_ftz, {{0, kOne}, {kMinusZero, kOne}, {1, kOne}, {0x80000001, kOne}, {kInf, kInf}, {kMinusInf, 0}, {0x43000000, kInf}, {0xC2FC0000, 0x00800000}, {0xC2FC0001, 0}, {0xC3000000, 0}, {0x42FE0000, 0x7F000000}});
  expect_words("lg2", lg2_approx_ftz, {{0, kMinusInf}, {kMinusZero, kMinusInf}, {1, kMinusInf}, {0xBF800000, kNan}, {kInf, kInf}, {kMinusInf, kNan}, {kOne, 0}, {0x41000000, 0x40400000}});
  expect_words("sin", sin_approx, {{0, 0}, {kMinusZero, kMinusZero}, {1, 0}, {0x80000001, kMinusZero}, {kInf, kNan}, {kMinusInf, kNan}});
  expect_words("cos", cos_approx, {{0, kOne}, {kMinusZero, kOne}, {1, kOne}, {kInf, kNan}, {kMinusInf, kNan}});
  expect_words("tanh", tanh_approx, {{0, 0}, {kMinusZero, kMinusZero}, {1, 1}, {0x80000001, 0x80000001}, {kInf, kOne}, {kMinusInf, 0xBF800000}, {0x3B7FFFFF, 0x3B7FFFFF}});
}

// Without .ftz subnormal arguments and results count.
TEST(SpecialFunctions, Subnormals) {
  expect_words("rcp", rcp_approx, {{0x00400000, 0x7F000000}, {0x80400000, 0xFF000000}, {1, kInf}, {0x7F000000, 0x00400000}, {0x7E800000, 0x00800000}, {0, kInf}, {kMinusInf, kMinusZero}, {0x40000000, 0x3F000000}});
  expect_words("rsqrt", rsqrt_approx, {{0x00400000, result(Function::rsqrt, 0x0C000000) + (12 << 23)}, {0, kInf}, {kMinusZero, kMinusInf}, {0x80000001, kNan}});
  expect_words("sqrt", sqrt_approx, {{0x00200000, 0x1F800000}, {0, 0}, {kMinusZero, kMinusZero}, {0x80000001, kNan}});
  // -127: the square of 2^-63.5, whose fraction is complemented, is one unit low.
  expect_words("ex2", ex2_approx, {{0xC2FE0000, 0x003FFFFF}, {0xC3150000, 1}, {0xC3160000, 0}, {kMinusInf, 0}, {kInf, kInf}});
  expect_words("lg2", lg2_approx, {{0, kMinusInf}, {0x80000001, kNan}});
  EXPECT_NEAR(lg2_approx(std::bit_cast<float>(0x00400000u)), -127.0, 1e-4);
}

// A quotient is a product with the reciprocal, scaled for subnormal and, in div.full, for large divisors.
TEST(SpecialFunctions, Quotients) {
  EXPECT_EQ(div_approx(3.0f, 2.0f), 1.5f);
  EXPECT_EQ(div_approx(0x1p127f, 0x1.8p126f), 0.0f);
  EXPECT_EQ(div_full(0x1p127f, 0x1p127f), 1.0f);
  EXPECT_EQ(div_approx(0x1p-130f, 0x1p-131f), 2.0f);
  EXPECT_EQ(div_full(0x1p-130f, -0x1p-131f), -2.0f);
  EXPECT_EQ(div_full(1.0f, 0.0f), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(div_approx(0.0f, 0.0f)));
  EXPECT_TRUE(std::isnan(div_approx(std::numeric_limits<float>::infinity(), 0x1.8p126f)));
}

// The documented bounds hold where nothing was measured: all exponents.
TEST(SpecialFunctions, AccurateForAllExponents) {
  for (uint32_t w = 0x00800000; w < kInf; w += 0x00012345) {
    const float a = std::bit_cast<float>(w);
    const double x = a;
    EXPECT_NEAR(rcp_approx(a) * x, 1.0, x > 0x1p126 ? 0x1p-21 : 0x1p-23) << std::hex << w;
    EXPECT_NEAR(rsqrt_approx(a) * std::sqrt(x), 1.0, 0x1p-22) << std::hex << w;
    EXPECT_NEAR(sqrt_approx(a) / std::sqrt(x), 1.0, 0x1p-22) << std::hex << w;
    EXPECT_NEAR(lg2_approx(a), std::log2(x), std::fmax(0x1p-22, std::fabs(std::log2(x)) * 0x1p-22)) << std::hex << w;
    if (x < 100) {
      EXPECT_NEAR(sin_approx(a), std::sin(x), 0x1p-20 * std::fmax(1.0, x)) << std::hex << w;
      EXPECT_NEAR(cos_approx(a), std::cos(x), 0x1p-20 * std::fmax(1.0, x)) << std::hex << w;
      EXPECT_NEAR(ex2_approx(a) / std::exp2(x), 1.0, 0x1p-22 + 0x1p-22) << std::hex << w;
      EXPECT_NEAR(ex2_approx(-a) / std::exp2(-x), 1.0, 0x1p-22 + 0x1p-22) << std::hex << w;
    }
    EXPECT_NEAR(tanh_approx(a) / std::tanh(x), 1.0, 0x1p-11) << std::hex << w;
    EXPECT_EQ(tanh_approx(-a), -tanh_approx(a));
    EXPECT_EQ(sin_approx(-a), -sin_approx(a));
    EXPECT_EQ(cos_approx(-a), cos_approx(a));
  }
}

}  // namespace
}  // namespace drywell::numeric
