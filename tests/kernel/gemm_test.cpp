// The GEMM kernels: bit for bit against the reference in every format, tile and layout, the same memory under
// every driver, and PTX that ptxas takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "kernels/gemm/gemm.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

KernelReport run_gemm(const std::string& text, sim::DriverKind driver) {
  return test::run_kernel(text, {.driver = driver, .verify = driver == sim::DriverKind::eager});
}

class Gemm : public testing::TestWithParam<std::string> {};

TEST_P(Gemm, EqualsTheReferenceAndDoesNotDependOnTheDriver) { test::expect_verified_under_every_driver(GetParam(), "sm_100a", false); }
TEST_P(Gemm, Assembles) { test::expect_assembles(GetParam()); }

std::string test_name(const testing::TestParamInfo<std::string>& info) { return test::words_name(info.param); }

/// Every format in every tile, shapes with edges in m, n and k, and the remaining options in turn.
std::vector<std::string> block_scaled_matrix() {
  std::vector<std::string> all;
  unsigned turn = 0;
  for (const char* format :
       {"nvf4", "nvf4-ue8m0", "mxf4", "mxf6-e2m3", "mxf6-e3m2", "mxf8-e4m3", "mxf8-e5m2"}) {
    const bool sixes = std::string(format).rfind("mxf6", 0) == 0;
    for (const int group : {1, 2}) {
      for (const int bn : {64, 128, 192, 256}) {
        static constexpr const char* kShapes[] = {"--m=129 --n=264", "--m=300 --n=200", "--m=72 --n=456",
                                                  "--m=257 --n=136"};
        static constexpr const char* kOptions[] = {
            " --d-type=f32 --distribution=codes --ctas=2", " --beta=-0.5 --ctas=4",
            " --d-type=f16 --alpha=0.125 --stages=2",
            " --d-type=f32 --beta=2 --distribution=heavy-tailed --ctas=2",
            " --distribution=codes --cluster-n=2 --ctas=4"};
        all.push_back(fmt::format("gemm-blockscaled --format={} --cta-group={} --bn={} {} --k={}{}", format,
                                  group, bn, kShapes[(turn + turn / 4) % 4], sixes ? 384 : 544,
                                  kOptions[turn % 5]));
        ++turn;
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(BlockScaled, Gemm, testing::ValuesIn(block_scaled_matrix()), test_name);

INSTANTIATE_TEST_SUITE_P(
    Mixed, Gemm,
    testing::Values(
        "gemm-blockscaled --format=mxf8-e4m3 --b-format=e5m2 --m=200 --n=136 --k=160 --d-type=f32",
        "gemm-blockscaled --format=mxf8-e5m2 --b-format=e2m1 --m=136 --n=72 --k=256 --cta-group=2",
        "gemm-blockscaled --format=mxf6-e2m3 --a-format=e4m3 --m=136 --n=264 --k=256 --bn=192 "
        "--distribution=codes --d-type=f32",
        "gemm-blockscaled --format=mxf8-e4m3 --a-format=e2m1 --b-format=e3m2 --m=264 --n=264 --k=256 --bn=64 "
        "--beta=1",
        "gemm-blockscaled --format=mxf8-e4m3 --a-format=e2m1 --b-format=e2m1 --m=264 --n=264 --k=384 "
        "--cta-group=2 --bn=256"),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Majors, Gemm,
    testing::Values("gemm-blockscaled --format=mxf8-e4m3 --a-major=mn --m=272 --n=136 --k=160",
                    "gemm-blockscaled --format=mxf8-e5m2 --b-major=mn --m=136 --n=272 --k=160 --bn=192 "
                    "--distribution=codes --d-type=f32",
                    "gemm-blockscaled --format=mxf8-e4m3 --a-major=mn --b-major=mn --m=272 --n=400 --k=544 "
                    "--bn=256 --cta-group=2",
                    "gemm-blockscaled --format=mxf8-e4m3 --a-major=mn --b-major=mn --m=400 --n=272 --k=288 "
                    "--bn=64 --cta-group=2 --cluster-n=2 --ctas=4",
                    "gemm-blockscaled --format=mxf8-e5m2 --a-major=mn --b-major=mn --m=160 --n=592 --k=160 "
                    "--bn=192 --cta-group=2 --beta=1",
                    "gemm-fp8 --a-major=mn --b-major=mn --m=272 --n=144 --k=77 --d-type=f16",
                    "gemm-fp8 --b-major=mn --m=100 --n=144 --k=272 --bn=64 --cta-group=2"),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Clusters, Gemm,
    testing::Values(
        "gemm-blockscaled --format=nvf4 --m=300 --n=1000 --k=544 --bn=64 --cta-group=2 --cluster-n=4",
        "gemm-blockscaled --format=nvf4 --m=300 --n=712 --k=544 --bn=192 --cluster-n=4 --d-type=f32 "
        "--distribution=codes",
        "gemm-blockscaled --format=mxf8-e4m3 --m=528 --n=520 --k=544 --bn=128 --cta-group=2 --cluster-n=2 "
        "--a-major=mn",
        "gemm-bf16 --m=520 --n=520 --k=264 --cta-group=2 --cluster-n=2 --a-major=mn",
        "gemm-fp8 --m=300 --n=520 --k=528 --cluster-n=4"),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Fp8, Gemm,
    testing::Values(
        "gemm-fp8 --m=300 --n=200 --k=208 --distribution=codes --d-type=f32 --ctas=1",
        "gemm-fp8 --a-format=e5m2 --b-format=e4m3 --m=129 --n=264 --k=528 --bn=192 --cta-group=2 --beta=1",
        "gemm-fp8 --a-format=e5m2 --b-format=e5m2 --m=129 --n=264 --k=528 --bn=256 --d-type=f32 "
        "--distribution=codes",
        "gemm-fp8 --a-format=e2m1 --b-format=e3m2 --m=200 --n=136 --k=256 --d-type=f32",
        "gemm-fp8 --a-format=e2m3 --b-format=e4m3 --m=200 --n=136 --k=384 --bn=64 --cta-group=2"),
    test_name);

INSTANTIATE_TEST_SUITE_P(
    Bf16, Gemm,
    testing::Values("gemm-bf16 --m=128 --n=128 --k=64 --d-type=f32",
                    "gemm-bf16 --m=300 --n=200 --k=200 --distribution=codes --d-type=f32 --ctas=1",
                    "gemm-bf16 --m=100 --n=72 --k=328 --bn=64 --alpha=-0.5 --beta=2",
                    "gemm-bf16 --m=256 --n=448 --k=136 --bn=192 --d-type=f16 --type=f16",
                    "gemm-bf16 --m=129 --n=264 --k=512 --bn=256 --stages=2 --beta=0.75 --d-type=f32 "
                    "--distribution=heavy-tailed",
                    "gemm-bf16 --m=304 --n=200 --k=71 --a-major=mn --b-major=mn --d-type=f16 --beta=-1",
                    "gemm-bf16 --m=136 --n=136 --k=72 --a-major=mn --bn=64 --type=f16 --distribution=codes",
                    "gemm-bf16 --m=128 --n=400 --k=72 --b-major=mn --bn=192",
                    "gemm-bf16 --m=300 --n=200 --k=200 --bn=192 --cta-group=2 --b-major=mn"),
    test_name);

TEST(GemmTimed, GivesTheSameMemory) {
  for (const char* text :
       {"gemm-bf16 --m=256 --n=200 --k=256 --beta=1", "gemm-fp8 --m=200 --n=200 --k=256 --bn=64",
        "gemm-blockscaled --m=300 --n=264 --k=768 --bn=192 --ctas=2",
        "gemm-blockscaled --m=300 --n=264 --k=768 --cta-group=2 --cluster-n=2 --ctas=4",
        "gemm-blockscaled --format=mxf8-e4m3 --m=300 --n=264 --k=768 --cta-group=2 --bn=256 --beta=1",
        "gemm-blockscaled --format=mxf4 --m=300 --n=264 --k=768 --bn=64"}) {
    const KernelReport eager = run_gemm(text, sim::DriverKind::eager),
                       timed = run_gemm(text, sim::DriverKind::timed);
    ASSERT_TRUE(timed.run.ok()) << timed.run.fault->to_string();
    EXPECT_TRUE(eager.verify.passed()) << text;
    EXPECT_TRUE(timed.outputs.at(0).second.data == eager.outputs.at(0).second.data) << text;
    EXPECT_GT(timed.run.cycles, 0u);
  }
}

// interleave_sf_tensor of "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Scale factor layouts":
// reshape to (M/128, 4, 32, K/4, 4), permute to (M/128, K/4, 32, 4, 4).
TEST(GemmImage, ScaleFactorsAreInterleavedAsTheArticleSays) {
  QuantizedMatrix q;
  q.rows = 256;
  q.k = 12 * 16;
  q.block = 16;
  for (uint64_t r = 0; r < q.rows; ++r) {
    for (uint64_t s = 0; s < 12; ++s) q.scales.push_back(static_cast<uint8_t>(r * 31 + s * 7));
  }
  const std::vector<uint8_t> got = scale_image(q);
  std::vector<uint8_t> want;
  for (uint64_t m = 0; m < 2; ++m) {
    for (uint64_t k = 0; k < 3; ++k) {
      for (uint64_t row = 0; row < 32; ++row) {
        for (uint64_t quarter = 0; quarter < 4; ++quarter) {
          for (uint64_t s = 0; s < 4; ++s)
            want.push_back(q.scales[(m * 128 + quarter * 32 + row) * 12 + k * 4 + s]);
        }
      }
    }
  }
  EXPECT_EQ(got, want);
}

TEST(GemmImage, PacksNarrowElementsLowBitsFirst) {
  QuantizedMatrix q{.format = numeric::Format::e2m1, .rows = 1, .k = 4, .codes = {0x1, 0xF, 0x7, 0x8}};
  EXPECT_EQ(operand_image(q, isa::Major::k), (std::vector<uint8_t>{0xF1, 0x87}));
  q.format = numeric::Format::e2m3;
  q.codes = {0x3F, 0x00, 0x21, 0x12};
  EXPECT_EQ(operand_image(q, isa::Major::k), (std::vector<uint8_t>{0x3F, 0x10, 0x4A}));
  q = {.format = numeric::Format::bf16, .rows = 2, .k = 2, .codes = {0x0102, 0x0304, 0x0506, 0x0708}};
  EXPECT_EQ(operand_image(q, isa::Major::mn), (std::vector<uint8_t>{2, 1, 6, 5, 4, 3, 8, 7}));
}

/// A .npy file that goes away.
class ArrayFile {
 public:
  ArrayFile(const char* name, std::vector<float> values, uint64_t rows, uint64_t columns)
      : path_((std::filesystem::temp_directory_path() / fmt::format("drywell_{}_{}.npy", ::getpid(), name))
                  .string()) {
    write_npy(path_, NpyArray::of<float>(values, {rows, columns}));
  }
  ~ArrayFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(GemmInput, QuantizesArrays) {
  // Small integers are exact in e4m3 under a power-of-two scale, their sums in f32.
  constexpr uint64_t kM = 40, kN = 24, kK = 64;
  std::vector<float> a(kM * kK), b(kN * kK), c(kM * kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 9) - 4);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 5 % 7) - 3);
  for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 11);
  const ArrayFile fa("a", a, kM, kK), fb("b", b, kN, kK), fc("c", c, kM, kN);
  const KernelReport r = run_gemm(
      fmt::format(
          "gemm-blockscaled --format=mxf8-e4m3 --d-type=f32 --alpha=0.5 --beta=2 --a={} --b={} --c={}",
          fa.path(), fb.path(), fc.path()),
      sim::DriverKind::eager);
  ASSERT_TRUE(r.run.ok());
  EXPECT_TRUE(r.verify.passed());
  const auto d = r.outputs.at(0).second.values<float>();
  for (uint64_t m = 0; m < kM; ++m) {
    for (uint64_t n = 0; n < kN; ++n) {
      float want = 0;
      for (uint64_t k = 0; k < kK; ++k) want += a[m * kK + k] * b[n * kK + k];
      EXPECT_EQ(d[m * kN + n], 0.5f * want + 2 * c[m * kN + n]) << m << ", " << n;
    }
  }
}

TEST(GemmInput, NanAndInfinityComeThrough) {
  std::vector<float> a(16 * 64, 1.0f), b(8 * 64, 1.0f);
  a[0] = std::numeric_limits<float>::quiet_NaN();
  a[64] = std::numeric_limits<float>::infinity();
  b[64] = 0;  // infinity times zero in column 1
  const ArrayFile fa("a", a, 16, 64), fb("b", b, 8, 64);
  for (const char* kernel : {"gemm-bf16", "gemm-blockscaled --format=mxf4"}) {
    const KernelReport r = run_gemm(
        fmt::format("{} --d-type=f32 --a={} --b={}", kernel, fa.path(), fb.path()), sim::DriverKind::eager);
    ASSERT_TRUE(r.run.ok());
    EXPECT_TRUE(r.verify.passed()) << kernel << ": " << r.verify.first_mismatch;
    const auto d = r.outputs.at(0).second.values<float>();
    EXPECT_TRUE(std::isnan(d[0]) && std::isnan(d[8 + 1])) << kernel;
    EXPECT_EQ(d[2 * 8], 64.0f) << kernel;
  }
}

// "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Loading Scale Factor Data to TMEM": mxf8 with a tile
// of 128 x 256 has its accumulator in columns 0 to 255 and factors of 4 and 8 columns; nvf4 takes four times as many; bN = 192 loads the
// atoms of 256.
TEST(GemmPlan, LaysTensorMemoryOutAsTheArticleDoes) {
  gemm::GemmConfig c;
  c.kind = isa::MmaKind::mxf8f6f4;
  c.a.element = c.b.element = isa::MmaElement::e4m3;
  c.scale = isa::ScaleVector::x1;
  c.bn = 256;
  const gemm::GemmPlan mxf8(c);
  EXPECT_EQ(mxf8.tmem_scales, 256u);
  EXPECT_EQ(mxf8.sfa_columns(), 4u);
  EXPECT_EQ(mxf8.sfb_columns(), 8u);
  EXPECT_EQ(mxf8.tile_k, 128u);
  c.bn = 192;
  EXPECT_EQ(gemm::GemmPlan(c).sfb_bytes(), mxf8.sfb_bytes());
  EXPECT_EQ(gemm::GemmPlan(c).b.bytes, 24576u);
  c.kind = isa::MmaKind::mxf4nvf4;
  c.a.element = c.b.element = isa::MmaElement::e2m1;
  c.scale = isa::ScaleVector::x4;
  const gemm::GemmPlan nvf4(c);
  EXPECT_EQ(nvf4.sfa_columns(), 16u);
  EXPECT_EQ(nvf4.sfb_columns(), 32u);
  EXPECT_EQ(nvf4.sfa_bytes(), 2048u);
  EXPECT_EQ(nvf4.sfb_bytes(), 4096u);
  EXPECT_EQ(nvf4.tile_k, 256u);
}

TEST(GemmErrors, SayWhatDoesNotFit) {
  const auto code_of = [](const char* text) -> std::optional<Code> {
    try {
      run_gemm(text, sim::DriverKind::eager);
    } catch (const InputError& e) {
      return e.code();
    }
    return std::nullopt;
  };
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=12"), Code::E2302);
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=9 --k=16"), Code::E2302);
  EXPECT_EQ(code_of("gemm-bf16 --m=9 --n=8 --k=16 --a-major=mn"), Code::E2302);
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=16 --stages=16"), Code::E2301);
  EXPECT_EQ(code_of("gemm-blockscaled --format=nvf4 --a-format=e4m3"), Code::E2302);
  EXPECT_EQ(code_of("gemm-blockscaled --format=nvf4 --a-major=mn"), Code::E2302);
  EXPECT_EQ(code_of("gemm-blockscaled --format=mxf6-e2m3 --k=96"), Code::E2302);
  EXPECT_EQ(code_of("gemm-blockscaled --format=mxf8-e4m3 --k=48"), Code::E2302);
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=16 --a=/nowhere.npy"), Code::E4001);
}

}  // namespace
}  // namespace drywell::kernels
