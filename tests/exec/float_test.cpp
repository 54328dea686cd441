// What no conformance program says of floating-point arithmetic and conversions: results that were measured, literals, and NaN where PTX
// leaves it open.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::test {
namespace {

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

// The sign of a NaN is not kept; NaN of any sign and payload becomes the canonical one.
TEST(Half, SignsOfNan) {
  for (const char* op : {"neg", "abs"}) {
    EXPECT_EQ(run_lanes(std::string(op) + ".f32 w0, w1;", {"w0"}, {"w1"}, {{0xFFC00005, 0x7F800001}}).at(0),
              (Column{0x7FFFFFFF, 0x7FFFFFFF}));
    EXPECT_EQ(run_lanes(std::string(op) + ".f16 h0, h1;", {"h0"}, {"h1"}, {{0xFE05, 0x7C01}}).at(0),
              (Column{0x7FFF, 0x7FFF}));
    EXPECT_EQ(run_lanes(std::string(op) + ".bf16x2 w0, w1;", {"w0"}, {"w1"}, {{0xFFC57F81}}).at(0),
              (Column{0x7FFF7FFF}));
  }
}

// A NaN loses to the other operand's magnitude, with the product of the signs, or wins with .NaN.
TEST(Half, ExtremesOfMagnitudesWithNan) {
  const Column a = {0xFFFF, 0x7FFF, 0x3C00, 0xBC00, 0xFFFF}, b = {0x3C00, 0xBC00, 0xFFFF, 0xFFFF, 0x7FFF};
  for (const char* op : {"min", "max"}) {
    const auto run = [&](const char* nan) {
      return run_lanes(fmt::format("{}{}.xorsign.abs.f16 h0, h1, h2;", op, nan), {"h0"}, {"h1", "h2"}, {a, b}).at(0);
    };
    EXPECT_EQ(run(""), (Column{0xBC00, 0xBC00, 0xBC00, 0x3C00, 0x7FFF})) << op;
    EXPECT_EQ(run(".NaN"), (Column{0x7FFF, 0x7FFF, 0x7FFF, 0x7FFF, 0x7FFF})) << op;
  }
}

TEST(Narrow, StochasticRoundingKeepsNan) {
  const auto run = [](const char* type, const char* out) {
    return run_lanes(fmt::format("cvt.rs.satfinite.{}.f32 {}, {{w1, w1, w1, w1}}, w2;", type, out), {out}, {"w1", "w2"},
                     {{0xFFC00005}, {0xFFFFFFFF}})
        .at(0);
  };
  for (const char* type : {"e4m3x4", "e5m2x4"}) EXPECT_EQ(run(type, "w0"), (Column{0x7F7F7F7F})) << type;
  for (const char* type : {"e2m3x4", "e3m2x4"}) EXPECT_EQ(run(type, "w0"), (Column{0x1F1F1F1F})) << type;
  EXPECT_EQ(run("e2m1x4", "h0"), (Column{0x7777}));
}

}  // namespace
}  // namespace drywell::test
