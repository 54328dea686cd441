// The exact conversions against the rows of docs/facts/numerics.md §2 and against a search of the value table.
#include "drywell/sim/numeric/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "support/paths.h"
#include "unit/numeric_vectors.h"

namespace drywell::numeric {
namespace {

uint32_t f32(float v) { return std::bit_cast<uint32_t>(v); }
constexpr uint32_t kInf = 0x7F800000, kNegInf = 0xFF800000;

ConvertSpec to(Format dst, Rounding r = Rounding::rn, Format src = Format::f32) {
  return {.dst = dst,
          .src = src,
          .rounding = r,
          .satfinite = format_info(dst).bits() <= 8 && dst != Format::ue8m0};
}

struct NarrowLimits {
  Format f;
  uint32_t nan;
  float tie_to_zero;  // the largest magnitude that still rounds to 0
};

class NarrowConvert : public ::testing::TestWithParam<NarrowLimits> {};

TEST_P(NarrowConvert, SpecialsSaturationAndUnderflow) {
  const Format f = GetParam().f;
  const FormatInfo& in = format_info(f);
  const uint32_t sign = in.sign_mask();
  for (uint32_t nan : {0x7FC00000u, 0xFFC00001u, 0x7F800001u}) EXPECT_EQ(convert(to(f), nan), GetParam().nan);
  for (uint32_t big : {kInf, 0x7F7FFFFFu, f32(1e6f)}) {
    EXPECT_EQ(convert(to(f), big), in.max_finite);
    EXPECT_EQ(convert(to(f), big | 0x80000000), in.max_finite | sign);
  }
  const float tie = GetParam().tie_to_zero;
  EXPECT_EQ(convert(to(f), f32(tie)), 0u);
  EXPECT_EQ(convert(to(f), f32(-tie)), sign);
  EXPECT_EQ(convert(to(f), f32(std::nextafter(tie, 1.0f))), 1u);
  EXPECT_EQ(convert(to(f), f32(-0.0f)), sign);
}

TEST_P(NarrowConvert, ReluClearsNegativeResults) {
  ConvertSpec spec = to(GetParam().f);
  spec.relu = true;
  EXPECT_EQ(convert(spec, f32(-1.0f)), 0u);
  EXPECT_EQ(convert(spec, f32(-0.0f)), 0u);
  EXPECT_EQ(convert(spec, kNegInf), 0u);
  EXPECT_EQ(convert(spec, 0xFFC00000), GetParam().nan);
  EXPECT_EQ(convert(spec, f32(1.0f)), convert(to(GetParam().f), f32(1.0f)));
}

// Nearest even by definition: the closest entry of the value table, ties to the even code.
uint32_t nearest_in_table(Format f, double magnitude) {
  const uint32_t top = format_info(f).max_finite;
  for (uint32_t code = 0; code < top; ++code) {
    const double middle = (to_double(f, code) + to_double(f, code + 1)) / 2;
    if (magnitude < middle || (magnitude == middle && code % 2 == 0)) return code;
  }
  return top;
}

TEST_P(NarrowConvert, NearestEvenAgreesWithASearchOfTheTable) {
  const Format f = GetParam().f;
  for (uint32_t code = 0; code < format_info(f).max_finite; ++code) {
    const double lo = to_double(f, code), hi = to_double(f, code + 1);
    for (double part : {0.0, 0.125, 0.4375, 0.5, 0.5625, 0.875}) {
      const auto x = static_cast<float>(lo + part * (hi - lo));
      for (float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, 1e9f)}) {
        const uint32_t expected = nearest_in_table(f, y);
        ASSERT_EQ(convert(to(f), f32(y)), expected) << y;
        ASSERT_EQ(convert(to(f), f32(-y)), expected | format_info(f).sign_mask()) << y;
      }
    }
  }
}

TEST_P(NarrowConvert, StochasticRoundingFollowsItsRule) {
  // docs/facts/numerics.md §2.2: up when floor(fraction * 2^16) + R >= 2^16.
  const Format f = GetParam().f;
  for (uint32_t code = 0; code < format_info(f).max_finite; ++code) {
    const double lo = to_double(f, code), hi = to_double(f, code + 1);
    for (double part : {0.0, 0x1p-16, 0x1.8p-16, 0x1p-2, 0.3, 0.5, 0.999}) {
      const auto x = static_cast<float>(lo + part * (hi - lo));
      const double t = std::floor((x - lo) / (hi - lo) * 65536);
      for (uint32_t random : {0u, 1u, 0x7FFFu, 0x8000u, 0xC000u, 0xFFFEu, 0xFFFFu}) {
        const uint32_t expected = code + (t + random >= 65536 ? 1 : 0);
        ASSERT_EQ(convert(to(f, Rounding::rs), f32(x), random), expected)
            << code << ' ' << part << ' ' << random;
      }
    }
  }
}

TEST_P(NarrowConvert, WideningIsExactAndKeepsTheSign) {
  const Format f = GetParam().f;
  for (uint32_t code = 0; code < uint32_t{1} << format_info(f).bits(); ++code) {
    const double value = to_double(f, code);
    const uint32_t half = convert(to(Format::f16, Rounding::rn, f), code);
    if (std::isnan(value)) {
      EXPECT_EQ(half, 0x7FFFu);
    } else {
      EXPECT_EQ(to_double(Format::f16, half), value);
      EXPECT_EQ((half & 0x8000) != 0, std::signbit(value));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, NarrowConvert,
                         ::testing::Values(NarrowLimits{Format::e4m3, 0x7F, 0x1p-10f},
                                           NarrowLimits{Format::e5m2, 0x7F, 0x1p-17f},
                                           NarrowLimits{Format::e2m1, 0x07, 0.25f},
                                           NarrowLimits{Format::e2m3, 0x1F, 0x1p-4f},
                                           NarrowLimits{Format::e3m2, 0x1F, 0x1p-5f}),
                         [](const auto& p) { return std::string(format_info(p.param.f).name); });

TEST(ConvertMeasured, EveryWordOfTheH200IsReproduced) {
  std::ifstream in(drywell::test::source_path("tests/data/numerics/convert_h200.csv"));
  std::string line;
  std::getline(in, line);
  unsigned rows = 0;
  for (; std::getline(in, line); ++rows) {
    const std::vector<std::string> f = test::split_csv(line);
    ConvertSpec spec;
    spec.dst = test::format_named(f.at(0));
    spec.src = test::format_named(f.at(1));
    spec.rounding = f.at(2) == "rn" ? Rounding::rn : f.at(2) == "rz" ? Rounding::rz
                                                                     : Rounding::rna;
    spec.satfinite = f.at(3).find('s') != std::string::npos;
    spec.relu = f.at(3).find('r') != std::string::npos;
    spec.ftz = f.at(3).find('f') != std::string::npos;
    EXPECT_EQ(convert(spec, test::hex_list(f.at(4))[0]), test::hex_list(f.at(5))[0]) << line;
  }
  EXPECT_EQ(rows, 4194u);
}

TEST(ConvertE2m1, DecisionPoints) {
  // docs/facts/numerics.md §2.1, from the CUDA header: closed bounds round to the lower value.
  struct Row {
    float bound;
    bool closed;
    uint32_t below, above;
  };
  const Row rows[] = {{0.25f, true, 0, 1}, {0.75f, false, 1, 2}, {1.25f, true, 2, 3}, {1.75f, false, 3, 4}, {2.5f, true, 4, 5}, {3.5f, false, 5, 6}, {5.0f, true, 6, 7}};
  for (const Row& r : rows) {
    EXPECT_EQ(convert(to(Format::e2m1), f32(std::nextafter(r.bound, 0.0f))), r.below);
    EXPECT_EQ(convert(to(Format::e2m1), f32(r.bound)), r.closed ? r.below : r.above);
    EXPECT_EQ(convert(to(Format::e2m1), f32(std::nextafter(r.bound, 9.0f))), r.above);
  }
}

TEST(ConvertUe8m0, TruncatesAndRoundsUp) {
  struct Row {
    uint32_t x;
    uint32_t rz, rz_sat, rp, rp_sat;
  };
  const Row rows[] = {
      {f32(1.0f), 0x7F, 0x7F, 0x7F, 0x7F},
      {f32(-1.5f), 0x7F, 0x7F, 0x80, 0x80},
      {f32(0x1p-126f), 0x01, 0x01, 0x01, 0x01},
      {0x00400000, 0x00, 0x00, 0x00, 0x00},  // 2^-127
      {0x00400001, 0x00, 0x00, 0x01, 0x01},
      {0x007FFFFF, 0x00, 0x00, 0x01, 0x01},
      {0x00000001, 0x00, 0x00, 0x00, 0x00},
      {0x80000000, 0x00, 0x00, 0x00, 0x00},
      {0x7F000000, 0xFE, 0xFE, 0xFE, 0xFE},
      {0x7F7FFFFF, 0xFE, 0xFE, 0xFF, 0xFE},
      {kInf, 0xFF, 0xFE, 0xFF, 0xFE},
      {kNegInf, 0xFF, 0xFE, 0xFF, 0xFE},
      {0x7FC00000, 0xFF, 0xFF, 0xFF, 0xFF},
  };
  for (const Row& r : rows) {
    ConvertSpec spec = to(Format::ue8m0, Rounding::rz);
    EXPECT_EQ(convert(spec, r.x), r.rz) << std::hex << r.x;
    spec.rounding = Rounding::rp;
    EXPECT_EQ(convert(spec, r.x), r.rp) << std::hex << r.x;
    spec.satfinite = true;
    EXPECT_EQ(convert(spec, r.x), r.rp_sat) << std::hex << r.x;
    spec.rounding = Rounding::rz;
    EXPECT_EQ(convert(spec, r.x), r.rz_sat) << std::hex << r.x;
  }
  EXPECT_EQ(convert(to(Format::bf16, Rounding::rn, Format::ue8m0), 0x00), 0x0040u);
  EXPECT_EQ(convert(to(Format::bf16, Rounding::rn, Format::ue8m0), 0xFE), 0x7F00u);
  EXPECT_EQ(convert(to(Format::bf16, Rounding::rn, Format::ue8m0), 0xFF), 0x7FFFu);
  EXPECT_EQ(convert(to(Format::ue8m0, Rounding::rp, Format::bf16), 0x3F81), 0x80u);
}

TEST(ConvertHalf, OverflowInfinityAndNan) {
  const uint32_t big = f32(65520.0f);
  ConvertSpec rn = to(Format::f16), rz = to(Format::f16, Rounding::rz), sat = rn;
  sat.satfinite = true;
  EXPECT_EQ(convert(rn, big), 0x7C00u);
  EXPECT_EQ(convert(rn, f32(65519.0f)), 0x7BFFu);
  EXPECT_EQ(convert(rz, big), 0x7BFFu);
  EXPECT_EQ(convert(rz, kNegInf), 0xFC00u);  // an infinite input stays infinite in both modes
  EXPECT_EQ(convert(sat, kNegInf), 0xFBFFu);
  EXPECT_EQ(convert(sat, 0xFFC00000), 0x7FFFu);
  EXPECT_EQ(convert(rn, f32(-0x1p-25f)), 0x8000u);
  EXPECT_EQ(convert(rn, f32(0x1.8p-24f)), 0x0002u);
}

TEST(ConvertBf16, OverflowInfinityAndNan) {
  ConvertSpec rn = to(Format::bf16), rz = to(Format::bf16, Rounding::rz), sat = rn;
  sat.satfinite = true;
  EXPECT_EQ(convert(rn, 0x7F7FFFFF), 0x7F80u);
  EXPECT_EQ(convert(rz, 0x7F7FFFFF), 0x7F7Fu);
  EXPECT_EQ(convert(rz, kInf), 0x7F80u);
  EXPECT_EQ(convert(sat, kNegInf), 0xFF7Fu);
  EXPECT_EQ(convert(rn, 0xFFC00000), 0x7FFFu);
  EXPECT_EQ(convert(rn, 0x00018000), 0x0002u);                                           // bf16 subnormal, tie to even
  EXPECT_EQ(convert(to(Format::f32, Rounding::rn, Format::bf16), 0xFF81), 0xFF810000u);  // payload kept
}

TEST(ConvertTf32, RoundingAndNan) {
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rna), 0x3F801000), 0x3F802000u);
  EXPECT_EQ(convert(to(Format::tf32), 0x3F801000), 0x3F800000u);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rz), 0x3F801FFF), 0x3F800000u);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rna), 0x7F800001), kInf);  // measured: no canonical NaN
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rna), 0xFFC12345), 0xFFC12000u);
  EXPECT_EQ(convert(to(Format::tf32), 0xFFC12345), 0x7FFFE000u);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rna), 0x7F7FFFFF), kInf);
  EXPECT_EQ(convert(to(Format::tf32), 0x7F7FFFFF), kInf);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rz), 0x7F7FFFFF), 0x7F7FE000u);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rz), kNegInf), kNegInf);
  EXPECT_EQ(convert(to(Format::tf32, Rounding::rna), 0x00001000),
            0x00002000u);  // subnormals on the same grid
}

TEST(ConvertF32, FromHalfAndFlushToZero) {
  EXPECT_EQ(convert(to(Format::f32, Rounding::rn, Format::f16), 0xFD01), 0x7FFFFFFFu);
  EXPECT_EQ(convert(to(Format::f32, Rounding::rn, Format::f16), 0x0001), f32(0x1p-24f));
  ConvertSpec ftz = to(Format::bf16);
  ftz.ftz = true;
  EXPECT_EQ(convert(ftz, 0x807FFFFF), 0x8000u);
  EXPECT_EQ(convert(to(Format::bf16), 0x807FFFFF), 0x8080u);
}

TEST(ConvertPacking, FirstSourceTakesTheHighHalf) {
  const uint32_t one = f32(1.0f), two = f32(-2.0f);
  uint32_t d = 0;
  convert_x2_lanes(to(Format::bf16), &one, &two, nullptr, &d, 1);
  EXPECT_EQ(d, 0x3F80C000u);
  convert_x2_lanes(to(Format::e4m3), &one, &two, nullptr, &d, 1);
  EXPECT_EQ(d, 0x38C0u);
  convert_x2_lanes(to(Format::e2m1), &one, &two, nullptr, &d, 1);
  EXPECT_EQ(d, 0x2Cu);
  convert_x2_lanes(to(Format::e2m3), &one, &two, nullptr, &d, 1);
  EXPECT_EQ(d, 0x0830u);  // a in bits 13..8, b in bits 5..0
  const uint32_t packed = 0x2C;
  convert_packed_lanes(to(Format::f16, Rounding::rn, Format::e2m1), &packed, &d, 1);
  EXPECT_EQ(d, 0x3C00C000u);
  const uint32_t halves = 0x3C00C000;
  convert_packed_lanes(to(Format::e4m3, Rounding::rn, Format::f16), &halves, &d, 1);
  EXPECT_EQ(d, 0x38C0u);
}

TEST(ConvertPacking, RandomBitsOfTheStochasticForms) {
  // docs/facts/numerics.md §2.2, the table of R, on a word in which all bytes and bits can be distinguished.
  const uint32_t w = 0x81C2E3F4;
  EXPECT_EQ(random_bits_x2(Format::f16, w), (std::array<uint32_t, 2>{0x01C2, 0x03F4}));
  EXPECT_EQ(random_bits_x2(Format::bf16, w), (std::array<uint32_t, 2>{0x81C2, 0xE3F4}));
  // reversed: 81C2 = 1000 0001 1100 0010 -> 0100 0011 1000 0001; E3F4 = 1110 0011 1111 0100 -> 0010 1111 1100
  // 0111
  EXPECT_EQ(random_bits_x4(Format::e4m3, w), (std::array<uint32_t, 4>{0x4381, 0x81C2, 0x2FC7, 0xE3F4}));
  // bytes reversed: 81 -> 81, C2 -> 43, E3 -> C7, F4 -> 2F
  EXPECT_EQ(random_bits_x4(Format::e2m1, w), (std::array<uint32_t, 4>{0xC781, 0x81E3, 0x2F43, 0xC2F4}));
}

TEST(ConvertPacking, StochasticFourElementForm) {
  // 1.25 is half way between 1 and 1.5 on the e2m1 grid: up when R >= 0x8000.
  const uint32_t x = f32(1.25f), rbits = 0x81C2E3F4;
  uint32_t d = 0;
  convert_x4_lanes(to(Format::e2m1, Rounding::rs), &x, &x, &x, &x, &rbits, &d, 1);
  EXPECT_EQ(d, 0x3323u);  // R = C781, 81E3, 2F43, C2F4
}

}  // namespace
}  // namespace drywell::numeric
