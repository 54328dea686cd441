#include "drywell/launch/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "launch/bf16.h"

namespace drywell::kernels {
namespace {

struct Moments {
  double mean, deviation, kurtosis;
};

Moments moments(const std::vector<float>& v) {
  double sum = 0, second = 0, fourth = 0;
  for (float x : v) sum += x;
  const double n = static_cast<double>(v.size()), mean = sum / n;
  for (float x : v) {
    const double d2 = (x - mean) * (x - mean);
    second += d2;
    fourth += d2 * d2;
  }
  return {mean, std::sqrt(second / n), fourth * n / (second * second)};
}

TEST(Generator, DrawsSplitmix64Words) {
  // First outputs of the published splitmix64.c for seed 1234567.
  const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                               4593380528125082431u, 16408922859458223821u};
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(random_word(1234567, i), expected[i]);
}

TEST(Generator, QuantilesAgreeWithPython) {
  // statistics.NormalDist().inv_cdf of Python 3.
  const std::pair<double, double> expected[] = {{1e-10, -6.361340902404056},
                                                {0.001, -3.090232306167813},
                                                {0.02, -2.0537489106318225},
                                                {0.3, -0.5244005127080407},
                                                {0.5, 0.0},
                                                {0.8, 0.8416212335729144},
                                                {0.99, 2.3263478740408408},
                                                {0.999999, 4.753424308817089}};
  for (const auto& [p, x] : expected) EXPECT_NEAR(normal_quantile(p), x, 1.2e-9 * std::abs(x)) << p;
}

TEST(Generator, DistributionsHaveTheirMoments) {
  const Moments normal =
      moments(generate_floats(256, 512, {.distribution = Distribution::normal, .scale = 2}));
  EXPECT_NEAR(normal.mean, 0, 0.02);
  EXPECT_NEAR(normal.deviation, 2, 0.02);
  EXPECT_NEAR(normal.kurtosis, 3, 0.1);
  const Moments uniform = moments(generate_floats(256, 512, {.distribution = Distribution::uniform}));
  EXPECT_NEAR(uniform.mean, 0, 0.01);
  EXPECT_NEAR(uniform.deviation, std::sqrt(1.0 / 3), 0.01);
  EXPECT_NEAR(uniform.kurtosis, 1.8, 0.05);
  EXPECT_GT(moments(generate_floats(256, 512, {.distribution = Distribution::heavy_tailed})).kurtosis, 30);
}

TEST(Generator, HeavyTailedHasOneOutlierChannelPerPeriod) {
  constexpr uint64_t kRows = 256, kColumns = 512;
  const auto v = generate_floats(kRows, kColumns, {.distribution = Distribution::heavy_tailed});
  std::vector<double> energy(kColumns);
  for (uint64_t r = 0; r < kRows; ++r) {
    for (uint64_t c = 0; c < kColumns; ++c) energy[c] += double{v[r * kColumns + c]} * v[r * kColumns + c];
  }
  std::vector<double> sorted = energy;
  std::nth_element(sorted.begin(), sorted.begin() + kColumns / 2, sorted.end());
  for (uint64_t group = 0; group < kColumns; group += 128) {
    EXPECT_EQ(std::count_if(energy.begin() + group, energy.begin() + group + 128,
                            [&](double e) { return e > 50 * sorted[kColumns / 2]; }),
              1);
  }
}

TEST(Generator, ElementsDependOnSeedAndIndexOnly) {
  for (Distribution d : {Distribution::normal, Distribution::uniform, Distribution::heavy_tailed}) {
    EXPECT_EQ(parse_distribution(distribution_name(d)), d);
    const auto small = generate_floats(3, 384, {.distribution = d, .seed = 9});
    const auto large =
        generate_floats(300, 384, {.distribution = d, .seed = 9});  // enough for several threads
    EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
    EXPECT_NE(small, generate_floats(3, 384, {.distribution = d, .seed = 10}));
    EXPECT_EQ(bf16_from_floats(small), generate_bf16(3, 384, {.distribution = d, .seed = 9}));
  }
  EXPECT_EQ(parse_distribution("gaussian"), std::nullopt);
}

TEST(Bf16, RoundsToNearestEven) {
  const std::pair<uint32_t, uint16_t> cases[] = {
      {0x3F800000, 0x3F80}, {0x3F808000, 0x3F80}, {0x3F808001, 0x3F81}, {0x3F818000, 0x3F82}, {0xBF817FFF, 0xBF81}, {0x7F7FFFFF, 0x7F80}, {0x7F800000, 0x7F80}, {0xFF800000, 0xFF80}, {0x7F800001, 0x7FFF}, {0xFFC00000, 0x7FFF}, {0x00008000, 0x0000}, {0x00008001, 0x0001}, {0x80000000, 0x8000}};
  for (const auto& [in, out] : cases)
    EXPECT_EQ(bf16_from_float(std::bit_cast<float>(in)), out) << std::hex << in;
  EXPECT_EQ(float_from_half(0x0001), 0x1p-24f);
  EXPECT_EQ(float_from_half(0xFBFF), -65504.0f);
  EXPECT_EQ(float_from_half(0x3555), 0x1.554p-2f);
}

}  // namespace
}  // namespace drywell::kernels
