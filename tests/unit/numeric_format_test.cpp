#include "drywell/sim/numeric/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace drywell::numeric {
namespace {

// Value tables of docs/facts/numerics.md §1.
std::vector<double> table(Format f) {
  std::vector<double> v;
  switch (f) {
    case Format::e2m1: return {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    case Format::e2m3:
      for (int k = 0; k < 16; ++k) v.push_back(0.125 * k);
      for (double x : {2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5}) {
        v.push_back(x);
      }
      return v;
    case Format::e3m2:
      for (int k = 0; k < 8; ++k) v.push_back(0.0625 * k);
      for (double x : {0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5,
                       4.0, 5.0, 6.0, 7.0, 8.0, 10., 12.0, 14.0, 16.0, 20.0, 24.0, 28.0}) {
        v.push_back(x);
      }
      return v;
    default: return v;
  }
}

class SmallFormat : public ::testing::TestWithParam<Format> {};

TEST_P(SmallFormat, EveryCodeHasTheValueOfTheTable) {
  const FormatInfo& in = format_info(GetParam());
  const std::vector<double> expected = table(GetParam());
  ASSERT_EQ(expected.size(), size_t{1} << (in.bits() - 1));
  for (uint32_t code = 0; code < expected.size(); ++code) {
    EXPECT_EQ(to_double(GetParam(), code), expected[code]) << code;
    const double negative = to_double(GetParam(), code | in.sign_mask());
    EXPECT_EQ(negative, -expected[code]) << code;
    EXPECT_TRUE(std::signbit(negative)) << code;
  }
}

INSTANTIATE_TEST_SUITE_P(, SmallFormat, ::testing::Values(Format::e2m1, Format::e2m3, Format::e3m2),
                         [](const auto& p) { return std::string(format_info(p.param).name); });

TEST(Format, LimitsMatchTheTable) {
  struct Row {
    Format f;
    uint32_t code;
    double value;
  };
  const Row rows[] = {
      {Format::e4m3, 0x7E, 448},
      {Format::e4m3, 0x78, 256},  // exponent 15 with fraction 0..6 is finite
      {Format::e4m3, 0x08, 0x1p-6},
      {Format::e4m3, 0x01, 0x1p-9},
      {Format::e5m2, 0x7B, 57344},
      {Format::e5m2, 0x04, 0x1p-14},
      {Format::e5m2, 0x01, 0x1p-16},
      {Format::ue4m3, 0x7E, 448},
      {Format::ue4m3, 0xB8, 1},  // bit 7 is ignored
      {Format::ue4m3, 0x01, 0x1p-9},
      {Format::ue8m0, 0x00, 0x1p-127},
      {Format::ue8m0, 0x7F, 1},
      {Format::ue8m0, 0xFE, 0x1p127},
      {Format::tf32, 0x00002000, 0x1p-136},
      {Format::tf32, 0x3F801FFF, 1},  // low 13 bits ignored
      {Format::bf16, 0x0001, 0x1p-133},
      {Format::bf16, 0x7F7F, 0x1.fep127},
      {Format::f16, 0x7BFF, 65504},
      {Format::f16, 0x0001, 0x1p-24},
      {Format::f16, 0x0400, 0x1p-14},
      {Format::f32, 0x00000001, 0x1p-149},
      {Format::f32, 0x7F7FFFFF, std::numeric_limits<float>::max()},
  };
  for (const Row& r : rows)
    EXPECT_EQ(to_double(r.f, r.code), r.value) << format_info(r.f).name << ' ' << r.code;
}

TEST(Format, RawExponentIsThatOfTheEncoding) {
  EXPECT_EQ(decode(Format::e4m3, 0x01).raw_exponent, -6);
  EXPECT_EQ(decode(Format::e4m3, 0x08).raw_exponent, -6);
  EXPECT_EQ(decode(Format::e4m3, 0x7E).raw_exponent, 8);
  EXPECT_EQ(decode(Format::bf16, 0x0001).raw_exponent, -126);
  EXPECT_EQ(decode(Format::e2m1, 0x1).raw_exponent, 0);
  EXPECT_EQ(decode(Format::e2m1, 0x7).raw_exponent, 2);
  EXPECT_EQ(decode(Format::ue4m3, 0x01).raw_exponent, -6);
}

TEST(Format, SpecialCodes) {
  // docs/facts/numerics.md §1: the codes of NaN and infinity, over all codes of the 8-bit formats.
  for (uint32_t code = 0; code < 256; ++code) {
    const uint32_t magnitude = code & 0x7F;
    EXPECT_EQ(decode(Format::e4m3, code).is_nan(), magnitude == 0x7F);
    EXPECT_FALSE(decode(Format::e4m3, code).is_infinity());
    EXPECT_EQ(decode(Format::e5m2, code).is_nan(), magnitude > 0x7C);
    EXPECT_EQ(decode(Format::e5m2, code).is_infinity(), magnitude == 0x7C);
    EXPECT_EQ(decode(Format::ue4m3, code).is_nan(), magnitude == 0x7F);
    EXPECT_EQ(decode(Format::ue8m0, code).is_nan(), code == 0xFF);
    EXPECT_FALSE(decode(Format::ue8m0, code).is_zero());
  }
  // An f32 NaN whose payload is in the dropped bits is an infinity in tf32 (measured on B200).
  EXPECT_TRUE(decode(Format::tf32, 0x7F800001).is_infinity());
  EXPECT_TRUE(decode(Format::tf32, 0x7F802000).is_nan());
}

TEST(Format, SixteenBitDecodeAgreesWithTheHostsFloat) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float host = std::bit_cast<float>(code << 16);
    const double ours = to_double(Format::bf16, code);
    if (std::isnan(host)) {
      EXPECT_TRUE(std::isnan(ours));
    } else {
      ASSERT_EQ(ours, host) << code;
    }
  }
}

TEST(Format, EncodeInvertsDecodeForEveryCode) {
  for (Format f : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2, Format::ue4m3,
                   Format::f16, Format::bf16}) {
    const uint32_t count = uint32_t{1} << (format_info(f).bits());
    for (uint32_t code = 0; code < count; ++code) {
      const Decoded d = decode(f, code);
      if (d.cls != FpClass::finite && d.cls != FpClass::zero) continue;
      for (Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp, Rounding::rna}) {
        ASSERT_EQ(encode(f, d.negative, d.significand, d.lsb_exponent, mode, false), code)
            << format_info(f).name;
      }
    }
  }
}

TEST(Format, DirectedRoundingAndOverflow) {
  // 1 + 2^-11 is half way between the f16 neighbours 3C00 and 3C01.
  struct Row {
    Rounding mode;
    uint32_t positive, negative, overflow, negative_overflow;
  };
  const Row rows[] = {{Rounding::rn, 0x3C00, 0xBC00, 0x7C00, 0xFC00},
                      {Rounding::rz, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF},
                      {Rounding::rm, 0x3C00, 0xBC01, 0x7BFF, 0xFC00},
                      {Rounding::rp, 0x3C01, 0xBC00, 0x7C00, 0xFBFF},
                      {Rounding::rna, 0x3C01, 0xBC01, 0x7C00, 0xFC00}};
  for (const Row& r : rows) {
    EXPECT_EQ(encode(Format::f16, false, 2049, -11, r.mode, false), r.positive);
    EXPECT_EQ(encode(Format::f16, true, 2049, -11, r.mode, false), r.negative);
    EXPECT_EQ(encode(Format::f16, false, 1, 100, r.mode, false), r.overflow);
    EXPECT_EQ(encode(Format::f16, true, 1, 100, r.mode, false), r.negative_overflow);
    EXPECT_EQ(encode(Format::f16, false, 1, 100, r.mode, true), 0x7BFFu);
  }
}

TEST(Format, StochasticRoundingAddsToTheTopOfTheCutOffField) {
  // e2m1, |x| = 1 + 3/8: neighbours 1 and 1.5, fraction 3/4 of a step, so 2^14 random integers round down.
  EXPECT_EQ(encode(Format::e2m1, false, 11, -3, Rounding::rs, true, {0x3FFF, 16}), 0x2u);
  EXPECT_EQ(encode(Format::e2m1, false, 11, -3, Rounding::rs, true, {0x4000, 16}), 0x3u);
  // Exact values do not change, for any random integer.
  EXPECT_EQ(encode(Format::e2m1, true, 1, 0, Rounding::rs, true, {0xFFFF, 16}), 0xAu);
}

}  // namespace
}  // namespace drywell::numeric
