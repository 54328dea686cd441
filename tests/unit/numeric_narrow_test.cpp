// Narrow floats as values: against the value tables of docs/facts/numerics.md §1 and against float arithmetic.
#include "drywell/sim/numeric/narrow.h"

#include <gtest/gtest.h>

#include <cmath>

namespace drywell::numeric {
namespace {

TEST(Narrow, EveryNumberIsExactAndComesBack) {
  for (uint32_t code = 0; code < 256; ++code) {
    const e4m3 a = e4m3::of_code(static_cast<uint8_t>(code));
    const e5m2 b = e5m2::of_code(static_cast<uint8_t>(code));
    if (!std::isnan(float(a))) {
      EXPECT_EQ(e4m3(float(a)), a) << code;
    }
    if (std::isfinite(float(b))) {
      EXPECT_EQ(e5m2(float(b)), b) << code;
    }
  }
  for (uint32_t code = 0; code < 16; ++code) EXPECT_EQ(e2m1(float(e2m1::of_code(static_cast<uint8_t>(code)))).code(), code);
}

TEST(Narrow, ValuesOfTheTables) {
  const float e2m1_values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) EXPECT_EQ(float(e2m1::of_code(code)), e2m1_values[code]);
  EXPECT_EQ(float(e4m3(1000.0f)), 448.0f) << "saturates";
  EXPECT_EQ(float(e5m2(1e9f)), 57344.0f) << "saturates";
  EXPECT_EQ(float(e2m1(-7.0f)), -6.0f);
  EXPECT_EQ(float(bf16(1.0f + 1.0f / 256)), 1.0f) << "a tie goes to even";
  EXPECT_EQ(float(bf16(1.0f + 3.0f / 256)), 1.0f + 4.0f / 256);
  EXPECT_TRUE(std::isinf(float(f16(1e6f))));
  EXPECT_TRUE(std::isnan(float(bf16(NAN))));
  EXPECT_EQ(float(ue8m0(3.0f)), 4.0f) << "a scale covers its block: rounded up";
  EXPECT_EQ(bf16(-0.0f).code(), 0x8000);
}

TEST(Narrow, PackedAsMemoryHasThem) {
  const std::vector<e2m1> fp4 = {e2m1(1.0f), e2m1(-6.0f), e2m1(0.5f)};
  EXPECT_EQ(packed<Format::e2m1>(fp4), (std::vector<uint8_t>{0xF2, 0x01}));
  const std::vector<bf16> two = {bf16(1.0f), bf16(-2.0f)};
  EXPECT_EQ(packed<Format::bf16>(two), (std::vector<uint8_t>{0x80, 0x3F, 0x00, 0xC0}));
  const std::vector<e4m3> one = {e4m3(448.0f)};
  EXPECT_EQ(packed<Format::e4m3>(one), (std::vector<uint8_t>{0x7E}));
}

}  // namespace
}  // namespace drywell::numeric
