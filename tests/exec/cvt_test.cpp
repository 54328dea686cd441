// table/cvt.inc and cvt_narrow.inc: integers and IEEE formats against exact integers, narrow formats against
// a search through all their values.
#include <bit>
#include <cmath>
#include <map>

#include "exec/check_lanes.h"
#include "exec/exact_float.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 600;
struct Mode {
  const char *text, *integral;
  Round round;
};
constexpr Mode kModes[] = {{".rn", ".rni", Round::rn},
                           {".rz", ".rzi", Round::rz},
                           {".rm", ".rmi", Round::rm},
                           {".rp", ".rpi", Round::rp}};

struct IntType {
  const char* text;
  unsigned bits;
  bool is_signed;
};
constexpr IntType kInts[] = {{".u8", 8, false}, {".u16", 16, false}, {".u32", 32, false}, {".u64", 64, false},
                             {".s8", 8, true},  {".s16", 16, true},  {".s32", 32, true},  {".s64", 64, true}};
std::string reg_of(unsigned bits, int n) {
  return (bits <= 16 ? "h" : bits == 32 ? "w" : "d") + std::to_string(n);
}
unsigned reg_bits(unsigned bits) { return bits <= 16 ? 16 : bits; }
cpp_int value_of(const IntType& t, uint64_t v) {
  const uint64_t word = t.bits == 64 ? v : v & ((uint64_t{1} << t.bits) - 1);
  cpp_int x = word;
  if (t.is_signed && (word >> (t.bits - 1) & 1) != 0) x -= cpp_int(1) << t.bits;
  return x;
}
cpp_int lowest(const IntType& t) { return t.is_signed ? cpp_int(-(cpp_int(1) << (t.bits - 1))) : cpp_int(0); }
cpp_int highest(const IntType& t) { return (cpp_int(1) << (t.bits - (t.is_signed ? 1 : 0))) - 1; }
uint64_t low64(const cpp_int& v) {
  return static_cast<uint64_t>(v < 0 ? cpp_int((cpp_int(1) << 64) + v) : v);
}

struct FloatType {
  const char* text;
  const FloatFormat& f;
  unsigned bits;
};
constexpr FloatType kFloats[] = {
    {".f16", kF16, 16}, {".bf16", kBf16, 16}, {".f32", kF32, 32}, {".f64", kF64, 64}};
Column floats(const FloatType& t, uint64_t seed) {
  return float_values(t.f.exponent, t.f.fraction, kCount, seed);
}

TEST(CvtInt, EveryPairTruncatesExtendsAndSaturates) {
  for (const IntType& to : kInts) {
    for (const IntType& from : kInts) {
      for (const bool sat : {false, true}) {
        if (sat && lowest(from) >= lowest(to) && highest(from) <= highest(to)) continue;  // no such form
        check_lanes<1>(std::string("cvt") + (sat ? ".sat" : "") + to.text + from.text + " " +
                           reg_of(to.bits, 0) + ", " + reg_of(from.bits, 1) + ";",
                       reg_of(to.bits, 0), {reg_of(from.bits, 1)},
                       {integer_values(reg_bits(from.bits), kCount, 1)}, [&](auto v) {
                         const cpp_int x = value_of(from, v[0]);
                         if (sat)
                           return low64(x < lowest(to) ? lowest(to) : x > highest(to) ? highest(to) : x);
                         return low64(value_of(to, low64(x)));  // sign- or zero-extended into the register
                       });
      }
    }
  }
}

TEST(CvtInt, WiderRegistersOnEitherSide) {
  const Column in = integer_values(64, kCount, 2);
  check_lanes<1>("cvt.s32.s8 w0, d1;", "w0", {"d1"}, {in}, [](auto v) { return static_cast<int8_t>(v[0]); });
  check_lanes<1>("cvt.u64.u16 d0, d1;", "d0", {"d1"}, {in}, [](auto v) { return v[0] & 0xFFFF; });
  check_lanes<1>("cvt.s8.s32 d0, w1;", "d0", {"w1"}, {integer_values(32, kCount, 3)},
                 [](auto v) { return static_cast<int64_t>(static_cast<int8_t>(v[0])); });
  check_lanes<1>("cvt.sat.s8.s32 d0, w1;", "d0", {"w1"}, {integer_values(32, kCount, 3)}, [](auto v) {
    return static_cast<int64_t>(std::clamp(static_cast<int32_t>(v[0]), -128, 127));
  });
  check_lanes<1>("cvt.sat.s16.s32 w0, w1;", "w0", {"w1"}, {integer_values(32, kCount, 3)},
                 [](auto v) { return std::clamp(static_cast<int32_t>(v[0]), -32768, 32767); });
  check_lanes<1>("cvt.rn.f32.u8 w0, d1;", "w0", {"d1"}, {in},
                 [](auto v) { return std::bit_cast<uint32_t>(static_cast<float>(v[0] & 0xFF)); });
  check_lanes<1>("cvt.rzi.s16.f32 d0, w1;", "d0", {"w1"}, {Column{0xC2000000, 0x47000000, 0xFF800000}},
                 [](auto v) {
                   return int64_t{v[0] == 0xC2000000 ? -32 : v[0] == 0x47000000 ? 32767 : -32768};
                 });
}

TEST(CvtInt, ToFloatRoundsOnce) {
  for (const FloatType& to : kFloats) {
    for (const IntType& from : kInts) {
      if (to.f.exponent == 8 && to.f.fraction == 7 && from.bits == 8) continue;
      for (const Mode& m : kModes) {
        for (const bool sat : {false, true}) {
          if (sat && to.f.fraction == 7) continue;
          check_lanes<1>(std::string("cvt") + m.text + (sat ? ".sat" : "") + to.text + from.text + " " +
                             reg_of(to.bits, 0) + ", " + reg_of(from.bits, 1) + ";",
                         reg_of(to.bits, 0), {reg_of(from.bits, 1)},
                         {integer_values(reg_bits(from.bits), kCount, 4)}, [&](auto v) {
                           const cpp_int x = value_of(from, v[0]);
                           return rounded(to.f, {sat ? cpp_int(x < 0 ? 0 : x > 1 ? 1 : x) : x}, m.round);
                         });
        }
      }
    }
  }
}

cpp_int integral(const Exact& x, Round mode) {
  if (x.exponent >= 0) return x.significand << x.exponent;
  const bool negative = x.significand < 0;
  const cpp_int m = negative ? cpp_int(-x.significand) : x.significand;
  cpp_int q = m >> -x.exponent;
  const cpp_int rest = m - (q << -x.exponent), half = cpp_int(1) << (-x.exponent - 1);
  if (mode == Round::rn ? rest > half || (rest == half && bit_test(q, 0))
                        : rest != 0 && mode == (negative ? Round::rm : Round::rp))
    ++q;
  return negative ? cpp_int(-q) : q;
}

// PTX ISA 9.7.9.21: results are clamped; NaN becomes 0, or the top bit if the source is f64 or the result has
// 64 bits.
TEST(CvtFloat, ToIntClamps) {
  for (const FloatType& from : kFloats) {
    for (const IntType& to : kInts) {
      if (from.f.fraction == 7 && to.bits == 8) continue;
      for (const Mode& m : kModes) {
        for (const bool ftz : {false, true}) {
          if (ftz && from.f.fraction != 23) continue;
          check_lanes<1>(
              std::string("cvt") + m.integral + (ftz ? ".ftz" : "") + to.text + from.text + " " +
                  reg_of(to.bits, 0) + ", " + reg_of(from.bits, 1) + ";",
              reg_of(to.bits, 0), {reg_of(from.bits, 1)}, {floats(from, 5)}, [&](auto v) {
                const uint64_t in = ftz ? from.f.flushed(v[0]) : v[0];
                const auto in_register = [&](const cpp_int& x) { return low64(value_of(to, low64(x))); };
                if (from.f.is_nan(in))
                  return in_register(from.bits == 64 || to.bits == 64 ? cpp_int(1) << (to.bits - 1)
                                                                      : cpp_int(0));
                if (from.f.is_infinite(in))
                  return in_register(from.f.negative(in) ? lowest(to) : highest(to));
                const cpp_int x = integral(exact(from.f, in), m.round);
                return in_register(x < lowest(to) ? lowest(to) : x > highest(to) ? highest(to) : x);
              });
        }
      }
    }
  }
}

uint64_t saturated(const FloatFormat& f, uint64_t v) {
  return f.is_nan(v) || f.negative(v) ? 0 : std::min(v, f.one());
}
/// A number of format `from` in format `to`; infinities stay, NaN is the caller's.
uint64_t converted(const FloatFormat& to, const FloatFormat& from, uint64_t v, Round mode) {
  if (from.is_infinite(v)) return (from.negative(v) ? to.sign() : 0) | to.infinity();
  return rounded(to, exact(from, v), mode);
}
Column numbers(const FloatType& t, uint64_t seed) {
  Column c = floats(t, seed);
  for (uint64_t& v : c) {
    if (t.f.is_nan(v)) v = t.f.one();
  }
  return c;
}

TEST(CvtFloat, BetweenFormats) {
  for (const FloatType& to : kFloats) {
    for (const FloatType& from : kFloats) {
      if (&to == &from) continue;
      const bool widens = to.bits > from.bits;
      for (const Mode& m : kModes) {
        if (widens && m.round != Round::rn) continue;
        for (const bool sat : {false, true}) {
          if (sat && (to.f.fraction == 7 || from.f.fraction == 7 || (to.bits == 16 && from.bits == 16)))
            continue;
          check_lanes<1>(std::string("cvt") + (widens ? "" : m.text) + (sat ? ".sat" : "") + to.text +
                             from.text + " " + reg_of(to.bits, 0) + ", " + reg_of(from.bits, 1) + ";",
                         reg_of(to.bits, 0), {reg_of(from.bits, 1)}, {numbers(from, 6)}, [&](auto v) {
                           const uint64_t r = converted(to.f, from.f, v[0], m.round);
                           return sat ? saturated(to.f, r) : r;
                         });
        }
      }
    }
  }
}

TEST(CvtFloat, ToIntegralValues) {
  for (const FloatType& t : kFloats) {
    for (const Mode& m : kModes) {
      for (const bool sat : {false, true}) {
        if (sat && t.f.fraction == 7) continue;
        check_lanes<1>(std::string("cvt") + m.integral + (sat ? ".sat" : "") + t.text + t.text + " " +
                           reg_of(t.bits, 0) + ", " + reg_of(t.bits, 1) + ";",
                       reg_of(t.bits, 0), {reg_of(t.bits, 1)}, {numbers(t, 7)}, [&](auto v) {
                         uint64_t r = v[0];
                         if (!t.f.is_infinite(r)) {
                           Exact x{integral(exact(t.f, r), m.round)};
                           x.negative_zero = x.significand == 0 && t.f.negative(r);
                           r = rounded(t.f, x, Round::rn);
                         }
                         return sat ? saturated(t.f, r) : r;
                       });
      }
    }
  }
  check_lanes<1>("cvt.sat.f32.f32 w0, w1;", "w0", {"w1"}, {floats(kFloats[2], 8)},
                 [](auto v) { return saturated(kF32, v[0]); });
  check_lanes<1>("cvt.ftz.f32.f32 w0, w1;", "w0", {"w1"}, {numbers(kFloats[2], 8)},
                 [](auto v) { return kF32.flushed(v[0]); });
  check_lanes<1>("cvt.rzi.ftz.u32.f32 w0, w1;", "w0", {"w1"}, {Column{0x00000001, 0x40600000}},
                 [](auto v) { return v[0] == 1 ? 0 : 3; });
}

// ---- narrow formats, by searching all codes (docs/facts/numerics.md §1)

struct Narrow {
  const char* name;
  unsigned exponent, fraction, bits;
  int bias;
  uint64_t codes, max, nan;
};
constexpr Narrow kE4m3{"e4m3", 4, 3, 8, 7, 0x7F, 0x7E, 0x7F}, kE5m2{"e5m2", 5, 2, 8, 15, 0x7C, 0x7B, 0x7F},
    kE2m3{"e2m3", 2, 3, 8, 1, 0x20, 0x1F, 0x1F}, kE3m2{"e3m2", 3, 2, 8, 3, 0x20, 0x1F, 0x1F},
    kE2m1{"e2m1", 2, 1, 4, 1, 0x8, 0x7, 0x7};
double value_of(const Narrow& n, uint64_t code) {
  const auto e = static_cast<int>(code >> n.fraction & ((1u << n.exponent) - 1)),
             m = static_cast<int>(code & ((1u << n.fraction) - 1));
  return e == 0 ? std::ldexp(m, 1 - n.bias - static_cast<int>(n.fraction))
                : std::ldexp(m + (1 << n.fraction), e - n.bias - static_cast<int>(n.fraction));
}
/// Nearest code, ties to the even one, saturating; sign kept except for NaN.
uint64_t nearest_code(const Narrow& n, double v, bool relu) {
  if (std::isnan(v)) return n.nan;
  if (relu && std::signbit(v)) return 0;
  const double size = std::fabs(v);
  uint64_t best = 0;
  for (uint64_t c = 1; c <= n.max; ++c) {
    const double d = std::fabs(value_of(n, c) - size), b = std::fabs(value_of(n, best) - size);
    if (d < b || (d == b && c % 2 == 0)) best = c;
  }
  if (size >= value_of(n, n.max)) best = n.max;
  const uint64_t sign = n.name == kE2m3.name || n.name == kE3m2.name ? 0x20 : uint64_t{1} << (n.bits - 1);
  return best | (std::signbit(v) ? sign : 0);
}
double as_double(uint64_t f32) { return std::bit_cast<float>(static_cast<uint32_t>(f32)); }
Column narrow_inputs(uint64_t seed) {  // values around every format's range, and anything
  Column c = float_values(8, 23, kCount, seed);
  Words w(seed);
  for (size_t i = 40; i < kCount; i += 2)
    c[i] =
        std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(static_cast<int64_t>(w.next() % 4097) - 2048),
                                           static_cast<int>(w.next() % 24) - 18));
  return c;
}

TEST(CvtNarrow, PairsFromF32) {
  const Column a = narrow_inputs(9), b = narrow_inputs(10);
  for (const Narrow& n : {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1}) {
    for (const bool relu : {false, true}) {
      const std::string d = n.bits == 4 ? "b0" : "h0";
      check_lanes<2>(
          std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + n.name + "x2.f32 " + d + ", w1, w2;", d,
          {"w1", "w2"}, {a, b}, [&](auto v) {
            return nearest_code(n, as_double(v[0]), relu) << n.bits | nearest_code(n, as_double(v[1]), relu);
          });
    }
  }
}

double half_value(uint64_t h) {
  if (kF16.is_nan(h)) return std::nan("");
  if (kF16.is_infinite(h)) return kF16.negative(h) ? -HUGE_VAL : HUGE_VAL;
  return as_double(rounded(kF32, exact(kF16, h), Round::rn));
}
TEST(CvtNarrow, PairsFromF16AndBack) {
  Column in(0x10000 / 16);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 16 * i + i % 16 + ((0xFFFF - 16 * i) << 16);
  for (const Narrow& n : {kE4m3, kE5m2, kE2m1}) {
    const std::string d = n.bits == 4 ? "b0" : "h0";
    check_lanes<1>(std::string("cvt.rn.satfinite.") + n.name + "x2.f16x2 " + d + ", w1;", d, {"w1"}, {in},
                   [&](auto v) {
                     return nearest_code(n, half_value(v[0] >> 16), false) << n.bits |
                            nearest_code(n, half_value(v[0] & 0xFFFF), false);
                   });
  }
  for (const Narrow& n : {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1}) {
    Column codes(n.bits == 4 ? 256 : 4096);
    Words w(11);
    for (uint64_t& v : codes) v = w.next() & (n.bits == 4 ? 0xFF : 0xFFFF);
    const std::string s = n.bits == 4 ? "b1" : "h1";
    for (const bool relu : {false, true}) {
      check_lanes<1>(
          std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + n.name + "x2 w0, " + s + ";", "w0", {s},
          {codes}, [&](auto v) {
            const auto one = [&](uint64_t code) -> uint64_t {
              const unsigned sign_bit = n.exponent + n.fraction;
              const uint64_t magnitude = code & ((1u << sign_bit) - 1);
              const bool negative = (code >> sign_bit & 1) != 0;
              if ((n.name == kE4m3.name && magnitude == 0x7F) || (n.name == kE5m2.name && magnitude > 0x7C))
                return 0x7FFF;
              if (relu && negative) return 0;
              const uint64_t h =
                  n.name == kE5m2.name && magnitude == 0x7C
                      ? 0x7C00
                      : rounded(kF16, exact(kF64, std::bit_cast<uint64_t>(value_of(n, magnitude))),
                                Round::rn);
              return h | (negative ? 0x8000u : 0);
            };
            return one(v[0] >> n.bits) << 16 | one(v[0]);
          });
    }
  }
}

TEST(CvtNarrow, Halves) {
  const Column a = narrow_inputs(12), b = narrow_inputs(13);
  for (const FloatType& t : {kFloats[0], kFloats[1]}) {
    for (const Mode& m : {kModes[0], kModes[1]}) {
      for (const bool relu : {false, true}) {
        for (const bool satfinite : {false, true}) {
          const auto one = [&](uint64_t v) -> uint64_t {
            if (kF32.is_nan(v)) return 0x7FFF;
            if (relu && kF32.negative(v)) return 0;
            const uint64_t h = converted(t.f, kF32, v, m.round);
            return satfinite && t.f.is_infinite(h) ? h - 1 : h;
          };
          const std::string modifiers =
              std::string(m.text) + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "") + t.text;
          check_lanes<2>("cvt" + modifiers + "x2.f32 w0, w1, w2;", "w0", {"w1", "w2"}, {a, b},
                         [&](auto v) { return one(v[0]) << 16 | one(v[1]); });
          check_lanes<1>("cvt" + modifiers + ".f32 h0, w1;", "h0", {"w1"}, {a},
                         [&](auto v) { return one(v[0]); });
        }
      }
    }
  }
}

// docs/facts/numerics.md §2.1, tf32 rows: 10 fraction bits; .rna keeps sign and upper payload of a NaN.
TEST(CvtNarrow, Tf32) {
  constexpr FloatFormat tf32{8, 10, 0x3FFFF};
  for (const Mode& m : {kModes[0], kModes[1]}) {
    for (const bool relu : {false, true}) {
      check_lanes<1>(std::string("cvt") + m.text + (relu ? ".relu" : "") + ".tf32.f32 w0, w1;", "w0", {"w1"},
                     {narrow_inputs(14)}, [&](auto v) -> uint64_t {
                       if (kF32.is_nan(v[0])) return 0x7FFFE000;
                       return relu && kF32.negative(v[0]) ? 0 : converted(tf32, kF32, v[0], m.round) << 13;
                     });
    }
  }
  check_lanes<1>("cvt.rna.tf32.f32 w0, w1;", "w0", {"w1"}, {narrow_inputs(15)},
                 [&](auto v) { return (v[0] + (kF32.is_nan(v[0]) ? 0 : 0x1000)) & 0xFFFFE000; });
}

// docs/facts/numerics.md §2.1, ue8m0 rows: the exponent field, one more for .rp if anything is left; sign ignored.
TEST(CvtNarrow, Exponents) {
  const Column a = float_values(8, 23, kCount, 16), b = float_values(8, 23, kCount, 17);
  for (const bool up : {false, true}) {
    for (const bool satfinite : {false, true}) {
      const auto one = [&](uint64_t v) -> uint64_t {
        const uint64_t size = v & 0x7FFFFFFF;
        if (size > 0x7F800000) return 0xFF;
        const bool rest = up && (size & 0x7FFFFF) != 0 && size > 0x00400000;  // 2^-127 is code 0
        return std::min<uint64_t>((size >> 23) + rest, satfinite ? 0xFE : 0xFF);
      };
      const std::string op =
          std::string("cvt") + (up ? ".rp" : ".rz") + (satfinite ? ".satfinite" : "") + ".ue8m0x2";
      check_lanes<2>(op + ".f32 h0, w1, w2;", "h0", {"w1", "w2"}, {a, b},
                     [&](auto v) { return one(v[0]) << 8 | one(v[1]); });
      check_lanes<1>(op + ".bf16x2 h0, w1;", "h0", {"w1"}, {integer_values(32, kCount, 18)},
                     [&](auto v) { return one(v[0] & 0xFFFF0000) << 8 | one(v[0] << 16 & 0xFFFF0000); });
    }
  }
  check_lanes<1>("cvt.rn.bf16x2.ue8m0x2 w0, h1;", "w0", {"h1"}, {integer_values(16, kCount, 19)}, [](auto v) {
    const auto one = [](uint64_t c) -> uint64_t { return c == 0xFF ? 0x7FFF : c == 0 ? 0x0040 : c << 7; };
    return one(v[0] >> 8) << 16 | one(v[0] & 0xFF);
  });
}

// docs/facts/numerics.md §2.2: R is added at the top of the discarded bits. The bits of each element are from the
// table there.
TEST(CvtNarrow, StochasticRounding) {
  const auto reverse = [](uint64_t v, unsigned bits) {
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; ++i) r |= (v >> i & 1) << (bits - 1 - i);
    return r;
  };
  const auto up_or_down = [](const Narrow& n, uint64_t word, uint64_t random) -> uint64_t {
    const double v = as_double(word), size = std::fabs(v);
    const uint64_t sign = n.name == kE2m3.name || n.name == kE3m2.name ? 0x20 : uint64_t{1} << (n.bits - 1);
    if (std::isnan(v)) return n.nan;
    uint64_t low = 0;
    while (low < n.max && value_of(n, low + 1) <= size) ++low;
    if (low < n.max) {
      const double at = value_of(n, low), fraction = (size - at) / (value_of(n, low + 1) - at);
      if (std::floor(fraction * 65536) + static_cast<double>(random) >= 65536) ++low;
    }
    return low | (std::signbit(v) ? sign : 0);
  };
  const std::array<Column, 5> in = {narrow_inputs(20), narrow_inputs(21), narrow_inputs(22),
                                    narrow_inputs(23), integer_values(32, kCount, 24)};
  for (const Narrow& n : {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1}) {
    const std::string d = n.bits == 4 ? "h0" : "w0";
    check_lanes<5>(std::string("cvt.rs.satfinite.") + n.name + "x4.f32 " + d + ", {w1, w2, w3, w4}, w5;", d,
                   {"w1", "w2", "w3", "w4", "w5"}, in, [&](auto v) {
                     const uint64_t hi = v[4] >> 16, lo = v[4] & 0xFFFF;
                     std::array<uint64_t, 4> random = {reverse(hi, 16), hi, reverse(lo, 16), lo};
                     if (n.bits == 4) {
                       const auto byte = [&](unsigned k) { return v[4] >> (8 * k) & 0xFF; };
                       random = {reverse(byte(1), 8) << 8 | reverse(byte(3), 8), byte(3) << 8 | byte(1),
                                 reverse(byte(0), 8) << 8 | reverse(byte(2), 8), byte(2) << 8 | byte(0)};
                     }
                     uint64_t r = 0;
                     for (size_t k = 0; k < 4; ++k) r = r << n.bits | up_or_down(n, v[k], random[k]);
                     return r;
                   });
  }
  // bf16: the 16 discarded bits plus R; f16: 13 bits. Only normal results: the position of R for subnormal
  // ones is not public.
  const auto moderate = [](uint64_t seed) {
    Column c(kCount);
    Words w(seed);
    for (uint64_t& v : c) v = (w.next() & 0x807FFFFF) | (0x7Cu + w.next() % 8) << 23;
    return c;
  };
  check_lanes<3>("cvt.rs.bf16x2.f32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"},
                 {moderate(25), moderate(26), in[4]},
                 [](auto v) { return ((v[0] + (v[2] >> 16)) >> 16) << 16 | (v[1] + (v[2] & 0xFFFF)) >> 16; });
  check_lanes<3>("cvt.rs.f16x2.f32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"},
                 {moderate(27), moderate(28), in[4]}, [](auto v) {
                   const auto one = [](uint64_t x, uint64_t r) {
                     const uint64_t m = (x & 0x7FFFFFFF) + (r & 0x1FFF);
                     return (x >> 16 & 0x8000) | ((m >> 13) - (112 << 10));
                   };
                   return one(v[0], v[2] >> 16) << 16 | one(v[1], v[2] & 0xFFFF);
                 });
}

TEST(CvtPack, SaturatesAndShifts) {
  const std::array<Column, 3> in = {integer_values(32, kCount, 29), integer_values(32, kCount, 30),
                                    integer_values(32, kCount, 31)};
  const auto clamped = [](uint64_t v, unsigned bits, bool is_signed) {
    const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0,
                  high = (int64_t{1} << (bits - is_signed)) - 1;
    return static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int32_t>(v), low, high)) &
           ((uint64_t{1} << bits) - 1);
  };
  for (const bool is_signed : {false, true}) {
    const std::string kind = is_signed ? "s" : "u";
    check_lanes<2>("cvt.pack.sat." + kind + "16.s32 w0, w1, w2;", "w0", {"w1", "w2"}, {in[0], in[1]},
                   [&](auto v) { return clamped(v[0], 16, is_signed) << 16 | clamped(v[1], 16, is_signed); });
    for (const unsigned bits : {8u, 4u}) {
      check_lanes<3>("cvt.pack.sat." + kind + std::to_string(bits) + ".s32.b32 w0, w1, w2, w3;", "w0",
                     {"w1", "w2", "w3"}, in, [&](auto v) {
                       return v[2] << (2 * bits) | clamped(v[0], bits, is_signed) << bits |
                              clamped(v[1], bits, is_signed);
                     });
    }
  }
}

}  // namespace
}  // namespace drywell::test
