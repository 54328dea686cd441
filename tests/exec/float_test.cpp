// IEEE arithmetic of every format and rounding mode against exact integers (exact_float.h), with PTX's
// flushing, saturation and NaN on top.
#include "exec/check_lanes.h"
#include "exec/exact_float.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 700;
struct Mode {
  const char* text;
  Round round;
};
constexpr Mode kModes[] = {{".rn", Round::rn}, {".rz", Round::rz}, {".rm", Round::rm}, {".rp", Round::rp}};

Column f32(uint64_t seed) { return float_values(8, 23, kCount, seed); }
Column f64(uint64_t seed) { return float_values(11, 52, kCount, seed); }

/// PTX's order of things: flush inputs, compute, flush the result, saturate (NaN to +0). A result is
/// subnormal if it is so with an unbounded exponent (measured on an H200): `wide` is the result in a format
/// with a wider one.
struct Finish {
  const FloatFormat& f;
  bool ftz = false, sat = false, relu = false;
  uint64_t in(uint64_t v) const { return ftz ? f.flushed(v) : v; }
  uint64_t out(uint64_t v, uint64_t wide) const {
    const bool smallest = f.magnitude(v) == uint64_t{1} << f.fraction;
    return out(ftz && smallest && subnormal_result(f, wide) ? v & f.sign() : v);
  }
  uint64_t out(uint64_t v) const {
    if (ftz) v = f.flushed(v);
    if (sat) return f.is_nan(v) || f.negative(v) ? 0 : std::min(v, f.one());
    if (relu && f.negative(v) && !f.is_nan(v)) return 0;
    return v;
  }
};

TEST(F32, EveryRoundingFlushedAndSaturated) {
  for (const Mode& m : kModes) {
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        const Finish x{kF32, ftz, sat};
        const std::string tail =
            std::string(m.text) + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32 w0, w1, w2";
        const auto two = [&](const char* name, auto f) {
          check_lanes<2>(name + tail + ";", "w0", {"w1", "w2"}, {f32(1), f32(2)},
                         [&](auto v) { return x.out(f(x.in(v[0]), x.in(v[1]))); });
        };
        two("add", [&](uint64_t a, uint64_t b) { return reference_add(kF32, a, b, m.round); });
        two("sub", [&](uint64_t a, uint64_t b) { return reference_add(kF32, a, b ^ kF32.sign(), m.round); });
        check_lanes<2>("mul" + tail + ";", "w0", {"w1", "w2"}, {f32(1), f32(2)}, [&](auto v) {
          const uint64_t a = x.in(v[0]), b = x.in(v[1]);
          return x.out(reference_mul(kF32, a, b, m.round), reference_mul(kF32, a, b, m.round, widened(kF32)));
        });
        check_lanes<3>("fma" + tail + ", w3;", "w0", {"w1", "w2", "w3"}, {f32(1), f32(2), f32(3)},
                       [&](auto v) {
                         const uint64_t a = x.in(v[0]), b = x.in(v[1]), c = x.in(v[2]);
                         return x.out(reference_fma(kF32, a, b, c, m.round),
                                      reference_fma(kF32, a, b, c, m.round, widened(kF32)));
                       });
      }
    }
  }
}

TEST(F32, QuotientsAndRoots) {
  for (const Mode& m : kModes) {
    for (const bool ftz : {false, true}) {
      const Finish x{kF32, ftz};
      const std::string tail = std::string(m.text) + (ftz ? ".ftz" : "") + ".f32 w0, w1";
      check_lanes<2>("div" + tail + ", w2;", "w0", {"w1", "w2"}, {f32(4), f32(5)}, [&](auto v) {
        const auto to = [&](const FloatFormat& f) {
          return reference_div(kF32, x.in(v[0]), x.in(v[1]), m.round, f);
        };
        return x.out(to(kF32), to(widened(kF32)));
      });
      check_lanes<1>("rcp" + tail + ";", "w0", {"w1"}, {f32(6)}, [&](auto v) {
        const auto to = [&](const FloatFormat& f) {
          return reference_div(kF32, kF32.one(), x.in(v[0]), m.round, f);
        };
        return x.out(to(kF32), to(widened(kF32)));
      });
      check_lanes<1>("sqrt" + tail + ";", "w0", {"w1"}, {f32(7)},
                     [&](auto v) { return x.out(reference_sqrt(kF32, x.in(v[0]), m.round)); });
    }
  }
}

// 2^-126 (1 - 2^-24) fits 24 bits and is subnormal; 2^-126 (1 - 2^-46) rounds to a normal number first (both
// measured on an H200).
TEST(F32, SubnormalWithAnUnboundedExponent) {
  const auto run = [](const char* op, const Column& a, const Column& b) {
    return run_lanes(std::string(op) + " w0, w1, w2;", {"w0"}, {"w1", "w2"}, {a, b}).at(0);
  };
  EXPECT_EQ(run("mul.rn.ftz.f32", {0x3F7FFFFF, 0xBF7FFFFF, 0x3F7FFFFE}, {0x00800000, 0x00800000, 0x00800001}),
            (Column{0, 0x80000000, 0x00800000}));
  EXPECT_EQ(run("mul.rm.ftz.f32", {0xBF7FFFFE}, {0x00800001}), (Column{0x80800000}));
  EXPECT_EQ(run("div.rn.ftz.f32", {0x3F7FFFFF}, {0x7E800000}), (Column{0}));
  EXPECT_EQ(
      run_lanes("cvt.rn.ftz.f32.f64 w0, d1;", {"w0"}, {"d1"}, {{0x380FFFFFE44C9E2B, 0x380FFFFFFFFFFFFF}})
          .at(0),
      (Column{0, 0x00800000}));
}

TEST(F32x2, IsTwoF32) {
  Column a = f64(8), b = f64(9), c = f64(10);
  const Column p = f32(8), q = f32(9), r = f32(10);
  for (size_t i = 0; i < kCount; ++i) {  // two f32 each
    a[i] = p[i] | q[kCount - 1 - i] << 32;
    b[i] = q[i] | r[kCount - 1 - i] << 32;
    c[i] = r[i] | p[kCount - 1 - i] << 32;
  }
  for (const Mode& m : kModes) {
    for (const bool ftz : {false, true}) {
      const Finish x{kF32, ftz};
      const std::string tail = std::string(m.text) + (ftz ? ".ftz" : "") + ".f32x2 d0, d1, d2";
      const auto both = [&](auto f) {
        return [&x, &m, f](auto v) {
          const auto half = [&](unsigned s) {
            const auto in = [&](uint64_t w) { return x.in(w >> s & 0xFFFFFFFF); };
            const auto to = [&](const FloatFormat& format) {
              return f(in(v[0]), in(v[1]), in(v.back()), m.round, format);
            };
            return x.out(to(kF32), to(widened(kF32)));
          };
          return half(0) | half(32) << 32;
        };
      };
      check_lanes<2>("add" + tail + ";", "d0", {"d1", "d2"}, {a, b},
                     both([](uint64_t s, uint64_t t, uint64_t, Round mode, const FloatFormat& to) {
                       return reference_fma(kF32, s, kF32.one(), t, mode, to);
                     }));
      check_lanes<2>("sub" + tail + ";", "d0", {"d1", "d2"}, {a, b},
                     both([](uint64_t s, uint64_t t, uint64_t, Round mode, const FloatFormat& to) {
                       return reference_fma(kF32, s, kF32.one(), t ^ kF32.sign(), mode, to);
                     }));
      check_lanes<2>("mul" + tail + ";", "d0", {"d1", "d2"}, {a, b},
                     both([](uint64_t s, uint64_t t, uint64_t, Round mode, const FloatFormat& to) {
                       return reference_mul(kF32, s, t, mode, to);
                     }));
      check_lanes<3>("fma" + tail + ", d3;", "d0", {"d1", "d2", "d3"}, {a, b, c},
                     both([](uint64_t s, uint64_t t, uint64_t u, Round mode, const FloatFormat& to) {
                       return reference_fma(kF32, s, t, u, mode, to);
                     }));
    }
  }
}

// Only numbers: NaN payloads of double-precision results are tested in NanPayloads.
TEST(F64, EveryRounding) {
  FloatFormat f = kF64;
  f.nan = ~uint64_t{0};  // matches any NaN
  const Column a = f64(11), b = f64(12), c = f64(13);
  const auto check = [&](const std::string& body, const std::vector<std::string>& in,
                         const std::vector<Column>& values, auto expected) {
    const Column got = run_lanes(body, {"d0"}, in, values).at(0);
    for (size_t i = 0; i < got.size(); ++i) {
      const uint64_t want = expected(i);
      ASSERT_TRUE(got[i] == want || (want == f.nan && f.is_nan(got[i])))
          << body << std::hex << " got " << got[i] << " want " << want;
    }
  };
  for (const Mode& m : kModes) {
    const std::string tail = std::string(m.text) + ".f64 d0, d1";
    check("add" + tail + ", d2;", {"d1", "d2"}, {a, b},
          [&](size_t i) { return reference_add(f, a[i], b[i], m.round); });
    check("sub" + tail + ", d2;", {"d1", "d2"}, {a, b},
          [&](size_t i) { return reference_add(f, a[i], b[i] ^ f.sign(), m.round); });
    check("mul" + tail + ", d2;", {"d1", "d2"}, {a, b},
          [&](size_t i) { return reference_mul(f, a[i], b[i], m.round); });
    check("div" + tail + ", d2;", {"d1", "d2"}, {a, b},
          [&](size_t i) { return reference_div(f, a[i], b[i], m.round); });
    check("rcp" + tail + ";", {"d1"}, {a},
          [&](size_t i) { return reference_div(f, f.one(), a[i], m.round); });
    check("sqrt" + tail + ";", {"d1"}, {a}, [&](size_t i) { return reference_sqrt(f, a[i], m.round); });
    check("fma" + tail + ", d2, d3;", {"d1", "d2", "d3"}, {a, b, c},
          [&](size_t i) { return reference_fma(f, a[i], b[i], c[i], m.round); });
  }
}

// PTX ISA 4.5.2. ptxas 13.0 makes the same machine code of 0f3F800000 in an .f64 instruction as of 0d000000003F800000.
TEST(F64, LiteralsOfTheOtherWidth) {
  EXPECT_EQ(run_lanes("add.f64 d0, d1, 0f3F800000;", {"d0"}, {"d1"}, {{0}}).at(0).at(0), 0x3F800000u);
  EXPECT_EQ(run_lanes("add.f32 w0, w1, 0d3FF0000000000000;", {"w0"}, {"w1"}, {{0x3F800000}}).at(0).at(0),
            0x40000000u);
  EXPECT_EQ(run_lanes("add.f32 w0, w1, .5 + .5;", {"w0"}, {"w1"}, {{0x3F800000}}).at(0).at(0), 0x40000000u);
}

// The NaN of a double-precision result, and NaN in conversions to and from double: measured on an H200.
TEST(F64, NanPayloads) {
  constexpr uint64_t a = 0x7FF0000000000001, b = 0xFFF8000000000005, c = 0x7FFFFFFFFFFFFFFF,
                     one = 0x3FF0000000000000;
  const auto run = [](const std::string& body, const std::vector<std::string>& in,
                      const std::vector<Column>& values,
                      const char* out = "d0") { return run_lanes(body, {out}, in, values).at(0); };
  for (const char* op : {"add.rn", "sub.rz", "mul.rp"})
    EXPECT_EQ(run(std::string(op) + ".f64 d0, d1, d2;", {"d1", "d2"}, {{a, one, a}, {one, b, b}}),
              (Column{0x7FF8000000000001, b, b}))
        << op;
  EXPECT_EQ(run("div.rn.f64 d0, d1, d2;", {"d1", "d2"}, {{c}, {b}}), (Column{c}));
  EXPECT_EQ(run("fma.rn.f64 d0, d1, d2, d3;", {"d1", "d2", "d3"},
                {{a, a, one, a}, {b, one, b, one}, {one, c, c, one}}),
            (Column{b, c, b, 0x7FF8000000000001}));
  EXPECT_EQ(run("min.f64 d0, d1, d2;", {"d1", "d2"}, {{c, a}, {a, one}}), (Column{0x7FF8000000000001, one}));
  EXPECT_EQ(run("neg.f64 d0, d1;", {"d1"}, {{a, b, one}}),
            (Column{0x7FF8000000000001, b, 0xBFF0000000000000}));
  EXPECT_EQ(run("abs.f64 d0, d1;", {"d1"}, {{b}}), (Column{b}));
  EXPECT_EQ(run("mov.b32 w0, 0; cvt.rn.f32.f64 w0, d1;", {"d1"}, {{a, b, c}}, "w0"),
            (Column{0x7FC00000, 0xFFC00000, 0x7FFFFFFF}));
  EXPECT_EQ(run("cvt.rz.f16.f64 h0, d1;", {"d1"}, {{a, b, c}}, "h0"), (Column{0x7E00, 0xFE00, 0x7FFF}));
  EXPECT_EQ(run("cvt.rn.bf16.f64 h0, d1;", {"d1"}, {{a, b, c}}, "h0"), (Column{0x7FC0, 0xFFC0, 0x7FFF}));
  EXPECT_EQ(run("cvt.f64.f16 d0, h1;", {"h1"}, {{0x7E05, 0xFC01}}),
            (Column{0x7FF8140000000000, 0xFFF8040000000000}));
  EXPECT_EQ(run("cvt.f64.bf16 d0, h1;", {"h1"}, {{0x7F81, 0xFFC5}}),
            (Column{0x7FF8200000000000, 0xFFF8A00000000000}));
  EXPECT_EQ(run("cvt.ftz.f64.f32 d0, w1;", {"w1"}, {{0xFFC00005}}), (Column{0x7FFFFFFFE0000000}));
}

TEST(F32, SignsOfNan) {
  for (const char* op : {"neg", "abs"})
    EXPECT_EQ(run_lanes(std::string(op) + ".f32 w0, w1;", {"w0"}, {"w1"}, {{0xFFC00005, 0x7F800001}}).at(0),
              (Column{0x7FFFFFFF, 0x7FFFFFFF}));
}

struct HalfType {
  const char* text;
  const FloatFormat& f;
  bool pair;
};
constexpr HalfType kHalves[] = {
    {".f16", kF16, false}, {".f16x2", kF16, true}, {".bf16", kBf16, false}, {".bf16x2", kBf16, true}};
Column half_values(const HalfType& t, uint64_t seed) {
  Column low = float_values(t.f.exponent, t.f.fraction, kCount, seed);
  if (t.pair) {
    const Column high = float_values(t.f.exponent, t.f.fraction, kCount, seed + 1);
    for (size_t i = 0; i < kCount; ++i) low[i] |= high[kCount - 1 - i] << 16;
  }
  return low;
}
template <size_t N, class F>
void check_half(const HalfType& t, const std::string& opcode, F f) {
  const std::string r = t.pair ? "w" : "h";
  std::string body = opcode + t.text + " " + r + "0";
  std::array<std::string, N> in;
  std::array<Column, N> values;
  for (size_t k = 0; k < N; ++k) {
    in[k] = r + std::to_string(k + 1);
    values[k] = half_values(t, 20 + 3 * k);
    body += ", " + in[k];
  }
  check_lanes<N>(body + ";", r + "0", in, values, [&](auto v) {
    const auto part = [&](unsigned s) {
      std::array<uint64_t, N> w;
      for (size_t k = 0; k < N; ++k) w[k] = v[k] >> s & 0xFFFF;
      return static_cast<uint64_t>(f(w));
    };
    return part(0) | (t.pair ? part(16) << 16 : 0);
  });
}

TEST(Half, ArithmeticIsRoundedOnce) {
  for (const HalfType& t : kHalves) {
    const bool f16 = &t.f == &kHalves[0].f || t.f.exponent == 5;
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        if (!f16 && (ftz || sat)) continue;
        const Finish x{t.f, ftz, sat};
        const std::string tail = std::string(".rn") + (ftz ? ".ftz" : "") + (sat ? ".sat" : "");
        check_half<2>(t, "add" + tail,
                      [&](auto v) { return x.out(reference_add(t.f, x.in(v[0]), x.in(v[1]), Round::rn)); });
        check_half<2>(t, "sub" + tail, [&](auto v) {
          return x.out(reference_add(t.f, x.in(v[0]), x.in(v[1]) ^ 0x8000, Round::rn));
        });
        check_half<2>(t, "mul" + tail, [&](auto v) {
          const uint64_t a = x.in(v[0]), b = x.in(v[1]);
          return x.out(reference_mul(t.f, a, b, Round::rn),
                       reference_mul(t.f, a, b, Round::rn, widened(t.f)));
        });
        check_half<3>(t, "fma" + tail, [&](auto v) {
          const uint64_t a = x.in(v[0]), b = x.in(v[1]), c = x.in(v[2]);
          return x.out(reference_fma(t.f, a, b, c, Round::rn),
                       reference_fma(t.f, a, b, c, Round::rn, widened(t.f)));
        });
      }
    }
    const Finish relu{t.f, false, false, true};
    check_half<3>(t, "fma.rn.relu",
                  [&](auto v) { return relu.out(reference_fma(t.f, v[0], v[1], v[2], Round::rn)); });
    check_half<3>(t, "fma.rn.oob", [&](auto v) {
      return (v[0] & 0x7FFF) == 0x7FF7 || (v[1] & 0x7FFF) == 0x7FF7
                 ? 0
                 : reference_fma(t.f, v[0], v[1], v[2], Round::rn);
    });
    const Column fill = {0x7FF7, 0xFFF7, 0x3C00, 0x3C00}, other = {0x3C00, 0x7FFF, 0x7FF7, 0x3C00},
                 addend = {0x7FFF, 0, 0, 0x7FF7};
    if (!t.pair) {
      EXPECT_EQ(run_lanes(std::string("fma.rn.oob") + t.text + " h0, h1, h2, h3;", {"h0"}, {"h1", "h2", "h3"},
                          {fill, other, addend})
                    .at(0),
                (Column{0, 0, 0, 0x7FFF}));
    }
    check_half<1>(t, "neg", [&](auto v) { return t.f.is_nan(v[0]) ? t.f.nan : v[0] ^ 0x8000; });
    check_half<1>(t, "abs", [&](auto v) { return t.f.is_nan(v[0]) ? t.f.nan : v[0] & 0x7FFF; });
  }
}

// PTX ISA 9.7.4.7: -0 < +0; a NaN loses unless .NaN; .xorsign.abs compares magnitudes and multiplies signs.
TEST(Half, MinimaAndMaxima) {
  for (const HalfType& t : kHalves) {
    for (const bool max : {false, true}) {
      for (const bool nan : {false, true}) {
        for (const bool xorsign : {false, true}) {
          check_half<2>(
              t, std::string(max ? "max" : "min") + (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : ""),
              [&](auto v) -> uint64_t {
                const uint64_t sign = xorsign ? (v[0] ^ v[1]) & 0x8000 : 0,
                               a = xorsign ? v[0] & 0x7FFF : v[0], b = xorsign ? v[1] & 0x7FFF : v[1];
                if (t.f.is_nan(a) && t.f.is_nan(b)) return t.f.nan;
                if (t.f.is_nan(a) || t.f.is_nan(b)) return nan ? t.f.nan : (t.f.is_nan(a) ? b : a) | sign;
                const auto rank = [&](uint64_t w) {
                  return t.f.negative(w) ? -1 - static_cast<int64_t>(t.f.magnitude(w))
                                         : static_cast<int64_t>(w);
                };
                return ((rank(a) > rank(b)) == max ? a : b) | sign;
              });
        }
      }
    }
  }
}

TEST(Half, MixedWithF32) {
  for (const HalfType& t : {kHalves[0], kHalves[2]}) {
    const Column a = half_values(t, 30), b = half_values(t, 31);
    const auto wide = [&](uint64_t h) {  // exact
      if (t.f.is_nan(h)) return kF32.nan;
      return t.f.is_infinite(h) ? (t.f.negative(h) ? kF32.sign() : 0) | kF32.infinity()
                                : rounded(kF32, exact(t.f, h), Round::rn);
    };
    for (const Mode& m : kModes) {
      for (const bool sat : {false, true}) {
        const Finish x{kF32, false, sat};
        const std::string tail = std::string(m.text) + (sat ? ".sat" : "") + ".f32" + t.text;
        check_lanes<2>("add" + tail + " w0, h1, w2;", "w0", {"h1", "w2"}, {a, f32(32)},
                       [&](auto v) { return x.out(reference_add(kF32, wide(v[0]), v[1], m.round)); });
        check_lanes<2>("sub" + tail + " w0, h1, w2;", "w0", {"h1", "w2"}, {a, f32(32)}, [&](auto v) {
          return x.out(reference_add(kF32, wide(v[0]), v[1] ^ kF32.sign(), m.round));
        });
        check_lanes<3>(
            "fma" + tail + " w0, h1, h2, w3;", "w0", {"h1", "h2", "w3"}, {a, b, f32(33)},
            [&](auto v) { return x.out(reference_fma(kF32, wide(v[0]), wide(v[1]), v[2], m.round)); });
      }
    }
  }
}

}  // namespace
}  // namespace drywell::test
