// set, setp of halves, slct, testp: relations spelt out.
#include <bit>
#include <cmath>

#include "exec/check_lanes.h"
#include "exec/exact_float.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 400;
struct Comparison {
  const char* text;
  bool less, equal, greater, unordered;
};
constexpr Comparison kFloat[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
    {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};
bool holds(const Comparison& c, const FloatFormat& f, uint64_t a, uint64_t b) {
  if (f.is_nan(a) || f.is_nan(b)) return c.unordered;
  const auto rank = [&](uint64_t v) {
    return f.negative(v) ? -static_cast<int64_t>(f.magnitude(v)) : static_cast<int64_t>(v);
  };  // zeros are equal
  return rank(a) < rank(b) ? c.less : rank(a) > rank(b) ? c.greater : c.equal;
}
Column values(const FloatFormat& f, uint64_t seed) {
  return float_values(f.exponent, f.fraction, kCount, seed);
}
Column bools() {
  Column c(kCount);
  for (size_t i = 0; i < kCount; ++i) c[i] = i % 3 == 0;
  return c;
}

TEST(Compare, HalvesAndTheirPairs) {
  for (const bool f16 : {true, false}) {
    const FloatFormat& f = f16 ? kF16 : kBf16;
    const std::string type = f16 ? "f16" : "bf16";
    const Column a = values(f, 1), b = values(f, 2);
    Column a2 = a, b2 = b;
    for (size_t i = 0; i < kCount; ++i) {
      a2[i] |= b[kCount - 1 - i] << 16;
      b2[i] |= a[kCount - 1 - i] << 16;
    }
    const uint64_t one = f.one();
    for (const Comparison& c : kFloat) {
      check_lanes<2>("setp." + std::string(c.text) + "." + type + " p0, h1, h2;", "p0", {"h1", "h2"}, {a, b},
                     [&](auto v) { return holds(c, f, v[0], v[1]); });
      check_lanes<2>("set." + std::string(c.text) + "." + type + "." + type + " h0, h1, h2;", "h0",
                     {"h1", "h2"}, {a, b}, [&](auto v) { return holds(c, f, v[0], v[1]) ? one : 0; });
      check_lanes<3>("set." + std::string(c.text) + ".xor.u32." + type + " w0, h1, h2, p3;", "w0",
                     {"h1", "h2", "p3"}, {a, b, bools()},
                     [&](auto v) { return holds(c, f, v[0], v[1]) != (v[2] != 0) ? ~0u : 0u; });
      const auto low = [&](auto v) { return holds(c, f, v[0] & 0xFFFF, v[1] & 0xFFFF); };
      const auto high = [&](auto v) { return holds(c, f, v[0] >> 16, v[1] >> 16); };
      check_lanes<2>("setp." + std::string(c.text) + "." + type + "x2 p0|p4, w1, w2;", "p0", {"w1", "w2"},
                     {a2, b2}, low, {"p4"});
      check_lanes<2>("setp." + std::string(c.text) + "." + type + "x2 p4|p0, w1, w2;", "p0", {"w1", "w2"},
                     {a2, b2}, high, {"p4"});
      check_lanes<2>("set." + std::string(c.text) + "." + type + "x2." + type + "x2 w0, w1, w2;", "w0",
                     {"w1", "w2"}, {a2, b2},
                     [&](auto v) { return (low(v) ? one : 0) | (high(v) ? one << 16 : 0); });
      check_lanes<2>("set." + std::string(c.text) + ".u32." + type + "x2 w0, w1, w2;", "w0", {"w1", "w2"},
                     {a2, b2}, [&](auto v) { return (low(v) ? 0xFFFF : 0) | (high(v) ? 0xFFFF0000u : 0); });
    }
  }
}

TEST(Compare, SetOfFloatsAndIntegers) {
  for (const Comparison& c : kFloat) {
    check_lanes<2>("set." + std::string(c.text) + ".f32.f32 w0, w1, w2;", "w0", {"w1", "w2"},
                   {values(kF32, 3), values(kF32, 4)},
                   [&](auto v) { return holds(c, kF32, v[0], v[1]) ? 0x3F800000u : 0u; });
    check_lanes<3>("set." + std::string(c.text) + ".or.ftz.s32.f32 w0, w1, w2, !p3;", "w0",
                   {"w1", "w2", "p3"}, {values(kF32, 3), values(kF32, 4), bools()}, [&](auto v) {
                     return holds(c, kF32, kF32.flushed(v[0]), kF32.flushed(v[1])) || v[2] == 0 ? ~0u : 0u;
                   });
    check_lanes<2>("set." + std::string(c.text) + ".u32.f64 w0, d1, d2;", "w0", {"d1", "d2"},
                   {values(kF64, 5), values(kF64, 6)},
                   [&](auto v) { return holds(c, kF64, v[0], v[1]) ? ~0u : 0u; });
  }
  const Column a = integer_values(32, kCount, 7), b = integer_values(32, kCount, 8);
  check_lanes<2>("set.lt.u32.s32 w0, w1, w2;", "w0", {"w1", "w2"}, {a, b},
                 [](auto v) { return static_cast<int32_t>(v[0]) < static_cast<int32_t>(v[1]) ? ~0u : 0u; });
  check_lanes<2>("set.hs.f16.u32 h0, w1, w2;", "h0", {"w1", "w2"}, {a, b},
                 [](auto v) { return v[0] >= v[1] ? 0x3C00 : 0; });
  check_lanes<3>("set.eq.and.f32.b32 w0, w1, w2, p3;", "w0", {"w1", "w2", "p3"}, {a, b, bools()},
                 [](auto v) { return v[0] == v[1] && v[2] != 0 ? 0x3F800000u : 0u; });
}

TEST(Compare, SelectionBySign) {
  const Column a = integer_values(64, kCount, 9), b = integer_values(64, kCount, 10),
               c = integer_values(32, kCount, 11), f = values(kF32, 12);
  check_lanes<3>("slct.b64.s32 d0, d1, d2, w3;", "d0", {"d1", "d2", "w3"}, {a, b, c},
                 [](auto v) { return static_cast<int32_t>(v[2]) >= 0 ? v[0] : v[1]; });
  for (const bool ftz : {false, true}) {
    check_lanes<3>(std::string("slct") + (ftz ? ".ftz" : "") + ".u64.f32 d0, d1, d2, w3;", "d0",
                   {"d1", "d2", "w3"}, {a, b, f}, [&](auto v) {
                     const uint64_t x = ftz ? kF32.flushed(v[2]) : v[2];
                     return !kF32.is_nan(x) && (!kF32.negative(x) || kF32.is_zero(x)) ? v[0] : v[1];
                   });
  }
}

TEST(Compare, Classes) {
  const auto check = [](const char* name, auto test) {
    check_lanes<1>(std::string("testp.") + name + ".f32 p0, w1;", "p0", {"w1"}, {values(kF32, 13)},
                   [&](auto v) { return test(kF32, v[0]); });
    check_lanes<1>(std::string("testp.") + name + ".f64 p0, d1;", "p0", {"d1"}, {values(kF64, 14)},
                   [&](auto v) { return test(kF64, v[0]); });
  };
  const auto subnormal = [](const FloatFormat& f, uint64_t v) { return !f.is_zero(v) && f.flushed(v) != v; };
  check("finite", [](const FloatFormat& f, uint64_t v) { return f.magnitude(v) < f.infinity(); });
  check("infinite", [](const FloatFormat& f, uint64_t v) { return f.is_infinite(v); });
  check("number", [](const FloatFormat& f, uint64_t v) { return !f.is_nan(v); });
  check("notanumber", [](const FloatFormat& f, uint64_t v) { return f.is_nan(v); });
  check("normal", [&](const FloatFormat& f, uint64_t v) {
    return f.magnitude(v) < f.infinity() && !subnormal(f, v);
  });  // zeros count
  check("subnormal", [&](const FloatFormat& f, uint64_t v) { return subnormal(f, v); });
}

}  // namespace
}  // namespace drywell::test
