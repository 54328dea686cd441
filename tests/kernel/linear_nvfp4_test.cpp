// The NVFP4 linear layer: every tensor bit for bit against the independent flow, with all recipe switches, and split over ranks.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "kernels/linear_nvfp4/collective.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

class LinearNvfp4 : public testing::TestWithParam<std::string> {};

TEST_P(LinearNvfp4, EqualsTheReferenceUnderEveryDriver) { test::expect_verified_under_every_driver("linear-nvfp4 " + GetParam()); }

INSTANTIATE_TEST_SUITE_P(Recipes, LinearNvfp4,
                         testing::Values("--tokens=192 --in=160 --out=288 --seed=42 --offset=3",  // legal, and ragged in every tile
                                         "--tokens=128 --in=96 --out=64 --disable-rht --seed=1", "--tokens=128 --in=96 --out=64 --disable-stochastic-rounding",
                                         "--tokens=128 --in=96 --out=64 --disable-2d-quantization",
                                         "--tokens=96 --in=64 --out=96 --disable-rht --disable-stochastic-rounding --disable-2d-quantization",
                                         "--tokens=64 --in=64 --out=96 --scale-order=te --approximate-reciprocal --cta-group=2 --bn=64 --distribution=normal"),
                         [](const auto& p) { return test::words_name(p.param); });

INSTANTIATE_TEST_SUITE_P(Parallel, LinearNvfp4,
                         testing::Values("--parallel=column --ranks=2 --tokens=256 --in=160 --out=128 --seed=9", "--parallel=column --ranks=4 --tokens=256 --in=96 --out=128",
                                         "--parallel=row --ranks=2 --tokens=128 --in=128 --out=160 --seed=9", "--parallel=row --ranks=4 --tokens=256 --in=128 --out=96",
                                         "--parallel=column --ranks=2 --tokens=128 --in=96 --out=64 --amax-reduction=gathered",
                                         "--parallel=row --ranks=2 --tokens=128 --in=64 --out=96 --disable-rht --amax-reduction=gathered"),
                         [](const auto& p) { return test::words_name(p.param); });

// "te.Linear(768, 2048, …); x = torch.rand((1024, 768)".
TEST(LinearNvfp4Article, TheExamplesLayerIsVerified) {
  const KernelReport r = test::run_kernel("linear-nvfp4 --tokens=1024 --in=768 --out=2048", {.verify = true});
  ASSERT_TRUE(r.run.ok());
  EXPECT_TRUE(r.verify.passed()) << r.verify.first_mismatch;
  EXPECT_EQ(r.verify.compared, 9'469'952u);
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::timed, 0}}) {
    const KernelReport other = test::run_kernel("linear-nvfp4 --tokens=1024 --in=768 --out=2048", {.driver = driver, .seed = static_cast<uint64_t>(seed)});
    ASSERT_TRUE(other.run.ok());
    ASSERT_EQ(other.outputs.size(), r.outputs.size());
    for (size_t i = 0; i < r.outputs.size(); ++i) EXPECT_TRUE(other.outputs[i].second.data == r.outputs[i].second.data) << r.outputs[i].first << " under " << sim::driver_name(driver);
  }
}

std::vector<std::string> launches(const std::string& words) {
  std::vector<std::string> names;
  for (const auto& [what, text] : test::run_kernel("linear-nvfp4 --tokens=64 --in=32 --out=32 " + words).notes) {
    if (what.starts_with("launch")) names.push_back(text.substr(0, text.find("  ")));
  }
  return names;
}

// "TransformerEngine combines the computation of [amax] with … [rht amax] through the fused kernel HadamardAmaxTmaKernel"; "the
// rowwise and columnwise quantization of [w] are fused"; "swizzle_scaling_factors … cublas_gemm"; "[x^T and dy^T] in a single
// fused kernel, hadamard_transform_cast_fusion".
TEST(LinearNvfp4Article, KernelsOfTheDefaultRecipe) {
  EXPECT_EQ(launches(""), (std::vector<std::string>{
                              "rht-amax x", "quantize-nvfp4 x", "fused-rht x", "amax w", "quantize-nvfp4-2d w",  //
                              "swizzle-sf FProp A", "swizzle-sf FProp B", "alpha FProp", "gemm-blockscaled FProp",
                              "rht-amax dy", "quantize-nvfp4 dy", "fused-rht dy",  //
                              "swizzle-sf DGrad A", "swizzle-sf DGrad B", "alpha DGrad", "gemm-blockscaled DGrad",
                              "swizzle-sf WGrad A", "swizzle-sf WGrad B", "alpha WGrad", "gemm-blockscaled WGrad"}));
}

// "random_hadamard_transform=not self.disable_rht", "fp4_2d_quantization=not self.disable_2d_quantization".
TEST(LinearNvfp4Article, SwitchesChangeTheKernels) {
  const auto plain = launches("--disable-rht --disable-2d-quantization");
  EXPECT_EQ(std::vector<std::string>(plain.begin(), plain.begin() + 4), (std::vector<std::string>{"amax x", "quantize-nvfp4 x", "amax w", "quantize-nvfp4 w"}));
  // One kernel makes both orientations of x and of dy: two fewer launches.
  EXPECT_EQ(plain.size(), 18u);
}

// "a custom kernel" for [WORLD_SIZE * K, M // 2] -> [K, WORLD_SIZE * (M // 2)]; "removes padding from both dimensions prior to
// the all-gather … re-padded".
TEST(LinearNvfp4Article, WhatAGatherAdds) {
  std::map<std::string, int> count;
  for (const auto& [what, text] : test::run_kernel("linear-nvfp4 --parallel=column --ranks=2 --tokens=128 --in=32 --out=64").notes) {
    if (what.starts_with("launch")) ++count[text.substr(0, text.find("  "))];
  }
  for (const char* name : {"unpad x", "interleave-shards x", "interleave-shards x scales", "pad x"}) EXPECT_EQ(count[name], 1) << name;
  EXPECT_EQ(count["unpad dy"], 0);  // dy's columns are this rank's own
}

/// Outputs by name.
std::map<std::string, std::vector<std::byte>> outputs(const std::string& words) {
  std::map<std::string, std::vector<std::byte>> out;
  for (const auto& [name, array] : test::run_kernel("linear-nvfp4 --tokens=256 --in=128 --out=128 " + words).outputs) out[name] = array.data;
  return out;
}

/// Relative difference (Frobenius) of two tensors of bf16.
double difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double error = 0, size = 0;
  const auto value = [](const std::vector<std::byte>& v, size_t i) {
    uint16_t code = 0;
    std::memcpy(&code, &v[2 * i], 2);
    return static_cast<double>(std::bit_cast<float>(uint32_t{code} << 16));
  };
  for (size_t i = 0; 2 * i < a.size(); ++i) {
    error += std::pow(value(a, i) - value(b, i), 2);
    size += std::pow(value(b, i), 2);
  }
  return std::sqrt(error / size);
}

// With every amax reduced a rank computes a part of the single device's tensors. Where the layer is split along the summed
// dimension (dx of column, y of row) the ranks' parts are rounded to bf16 before they are added: those differ by that rounding, 2^-9 of a
// part at most. (The suite Parallel verifies that they are the split layer's bits.)
TEST(LinearNvfp4Parallel, EqualsTheSingleDevice) {
  const std::string nearest = "--disable-stochastic-rounding ";
  auto whole = outputs(nearest);
  for (const char* ranks : {"2", "4"}) {
    auto column = outputs(nearest + "--parallel=column --ranks=" + ranks), row = outputs(nearest + "--parallel=row --ranks=" + ranks);
    EXPECT_LT(difference(column["dx"], whole["dx"]), 0x1p-8) << ranks;
    EXPECT_LT(difference(row["y"], whole["y"]), 0x1p-8) << ranks;
    EXPECT_TRUE(column["y"] == whole["y"]) << ranks;
    EXPECT_TRUE(column["dw"] == whole["dw"]) << ranks;
    EXPECT_TRUE(row["dx"] == whole["dx"]) << ranks;
    EXPECT_TRUE(row["dw"] == whole["dw"]) << ranks;
  }
}

// Random bits are drawn for a launch's tiles, and a rank has its own launches: with stochastic rounding dy is rounded differently from a single
// device. The forward pass draws none.
TEST(LinearNvfp4Parallel, StochasticRoundingDrawsForEachRank) {
  auto whole = outputs(""), column = outputs("--parallel=column --ranks=2");
  EXPECT_TRUE(column["y"] == whole["y"]);
  EXPECT_FALSE(column["dw"] == whole["dw"]);
  EXPECT_LT(difference(column["dw"], whole["dw"]), 0.3);
}

TEST(Collective, ReduceScatterAddsInRankOrder) {
  const std::vector<std::vector<uint16_t>> partial = {{0x3F80, 0x4000}, {0x4000, 0xC000}};  // 1, 2 and 2, -2
  const auto out = nvfp4::reduce_scatter_sum(partial);
  EXPECT_EQ(out, (std::vector<std::vector<uint16_t>>{{0x4040}, {0x0000}}));
}

TEST(LinearNvfp4Errors, SayWhatDoesNotFit) {
  for (const char* text : {"linear-nvfp4 --tokens=96", "linear-nvfp4 --in=48", "linear-nvfp4 --ranks=2", "linear-nvfp4 --parallel=column --ranks=3"}) {
    try {
      test::run_kernel(text);
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E2110) << text;
    }
  }
}

}  // namespace
}  // namespace drywell::kernels
