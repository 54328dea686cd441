// The CUDA C++ examples of examples/cuda through nvcc's PTX: every launch file runs under every driver, and the results equal
// those computed here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "launch/plan.h"
#include "support/paths.h"

namespace drywell::kernels {
namespace {

class CudaExample : public testing::TestWithParam<sim::DriverKind> {
 protected:
  void run(const std::string& name, const std::string& machine = "sm_100a") {
    const LaunchPlan plan = read_launch_file(test::source_path("examples/cuda/" + name + ".toml"));
    SimulatedDevice device({.arch = machine});
    result_ = run_plan(plan, device, {.run = {.driver = GetParam(), .seed = 5}});
    ASSERT_TRUE(result_.ok()) << result_.runs.back().fault->to_string();
  }
  template <class T>
  std::vector<T> buffer(std::string_view name) const {
    for (const PlanBuffer& b : result_.buffers) {
      if (b.name != name) continue;
      std::vector<T> out(b.bytes.size() / sizeof(T));
      std::memcpy(out.data(), b.bytes.data(), b.bytes.size());
      return out;
    }
    ADD_FAILURE() << "no buffer " << name;
    return {};
  }
  PlanResult result_;
};

// bf16 is the upper half of binary32.
float from_bf16(uint16_t bits) {
  const uint32_t word = uint32_t{bits} << 16;
  float f = 0;
  std::memcpy(&f, &word, 4);
  return f;
}

// Nearest even, for finite values.
uint16_t to_bf16(float f) {
  uint32_t word = 0;
  std::memcpy(&word, &f, 4);
  return static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

double from_e4m3(uint8_t code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

TEST_P(CudaExample, TmaCopyScalesAndAddsTheColumn) {
  run("tma_copy", "sm_90a");  // its PTX is Hopper's
  const auto x = buffer<float>("x"), y = buffer<float>("y");
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], std::fmaf(2, x[i], static_cast<float>(i % 96))) << i;
}

TEST_P(CudaExample, GemmBf16WithBiasAndRelu) {
  run("gemm_bf16");
  constexpr size_t kM = 256, kN = 128, kK = 256;
  const auto a = buffer<uint16_t>("a"), b = buffer<uint16_t>("b"), d = buffer<uint16_t>("d");
  const auto bias = buffer<float>("bias");
  for (size_t m = 0; m < kM; ++m) {
    for (size_t n = 0; n < kN; ++n) {
      double sum = bias[n];
      for (size_t k = 0; k < kK; ++k) sum += double{from_bf16(a[m * kK + k])} * from_bf16(b[n * kK + k]);
      ASSERT_EQ(d[m * kN + n], to_bf16(static_cast<float>(std::max(sum, 0.0)))) << m << ", " << n;
    }
  }
}

TEST_P(CudaExample, GemmMxf8WithBlockScales) {
  run("gemm_mxf8");
  constexpr size_t kM = 128, kN = 256, kK = 384;
  const auto a = buffer<uint8_t>("a"), b = buffer<uint8_t>("b"), sa = buffer<uint8_t>("scale_a"), sb = buffer<uint8_t>("scale_b");
  const auto d = buffer<float>("d");
  // 128 rows x 4 factors a block of 512 bytes; one factor per 32 elements of K.
  const auto factor = [&](const std::vector<uint8_t>& s, size_t row, size_t k) {
    const size_t block = row / 128 * (kK / 128) + k / 128, r = row % 128;
    return std::ldexp(1, s[block * 512 + r % 32 * 16 + r / 32 * 4 + k % 128 / 32] - 127);
  };
  for (size_t m = 0; m < kM; ++m) {
    for (size_t n = 0; n < kN; ++n) {
      double sum = 0;
      for (size_t k = 0; k < kK; ++k) sum += from_e4m3(a[m * kK + k]) * factor(sa, m, k) * from_e4m3(b[n * kK + k]) * factor(sb, n, k);
      ASSERT_EQ(d[m * kN + n], static_cast<float>(sum)) << m << ", " << n;
    }
  }
}

double from_e2m1(unsigned code) {
  constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
}

TEST_P(CudaExample, GemmNvf4WithBlockScales) {
  run("gemm_nvf4");
  constexpr size_t kM = 256, kN = 128, kK = 768;
  const auto a = buffer<uint8_t>("a"), b = buffer<uint8_t>("b"), sa = buffer<uint8_t>("scale_a"), sb = buffer<uint8_t>("scale_b");
  const auto d = buffer<uint16_t>("d");
  // 128 rows x 4 factors a block of 512 bytes; one ue4m3 factor per 16 elements of K.
  const auto factor = [&](const std::vector<uint8_t>& s, size_t row, size_t k) {
    const size_t block = row / 128 * (kK / 64) + k / 64, r = row % 128;
    return from_e4m3(s[block * 512 + r % 32 * 16 + r / 32 * 4 + k % 64 / 16]);
  };
  const auto scaled = [&](const std::vector<uint8_t>& v, const std::vector<uint8_t>& s, size_t rows) {
    std::vector<double> out(rows * kK);  // an even element is in the low half of its byte
    for (size_t i = 0; i < out.size(); ++i) out[i] = from_e2m1(v[i / 2] >> (i % 2 * 4) & 15u) * factor(s, i / kK, i % kK);
    return out;
  };
  const std::vector<double> x = scaled(a, sa, kM), y = scaled(b, sb, kN);
  for (size_t m = 0; m < kM; ++m) {
    for (size_t n = 0; n < kN; ++n) {
      double sum = 0;
      for (size_t k = 0; k < kK; ++k) sum += x[m * kK + k] * y[n * kK + k];
      ASSERT_EQ(d[m * kN + n], to_bf16(0.75f * static_cast<float>(sum))) << m << ", " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, CudaExample,
                         testing::Values(sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed),
                         [](const auto& i) { return std::string(sim::driver_name(i.param)); });

}  // namespace
}  // namespace drywell::kernels
