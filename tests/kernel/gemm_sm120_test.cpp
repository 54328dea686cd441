// gemm-sm120-blockscaled on the simulated RTX 5090 and DGX Spark: bit for bit with the host reference, which
// shares no code with the simulator.
#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "support/kernel_run.h"

namespace drywell {
namespace {

constexpr const char* kArch = "sm_120a";

class GemmSm120 : public testing::TestWithParam<std::string> {};
TEST_P(GemmSm120, EqualsTheReferenceUnderEveryDriver) {
  test::expect_verified_under_every_driver("gemm-sm120-blockscaled " + GetParam(), kArch, true);
}
TEST_P(GemmSm120, Assembles) { test::expect_assembles("gemm-sm120-blockscaled " + GetParam(), kArch); }
INSTANTIATE_TEST_SUITE_P(
    , GemmSm120,
    testing::Values("--m=128 --n=128 --k=256", "--m=130 --n=138 --k=1280 --distribution=codes",
                    "--m=1 --n=2 --k=512 --d-type=f32", "--m=257 --n=64 --k=512 --format=mxf4 --stages=2",
                    "--m=96 --n=200 --k=256 --format=mxf4 --d-type=f32 --distribution=codes",
                    "--m=128 --n=256 --k=128 --format=mxf8",
                    "--m=200 --n=130 --k=384 --format=mxf8 --a-format=e5m2 --distribution=codes",
                    "--m=64 --n=130 --k=640 --format=mxf8 --b-format=e5m2 --d-type=f32 --alpha=0.5"),
    [](const auto& tested) { return test::words_name(tested.param); });

TEST(GemmSm120Machines, TheDgxSparkComputesTheSame) {
  const std::string words = "gemm-sm120-blockscaled --m=128 --n=136 --k=512";
  const auto geforce = test::run_kernel(words, {.arch = kArch}),
             spark = test::run_kernel(words, {.verify = true, .arch = "sm_121a"});
  ASSERT_TRUE(geforce.run.ok() && spark.run.ok());
  EXPECT_TRUE(spark.verify.passed());
  EXPECT_TRUE(geforce.outputs.at(0).second.data == spark.outputs.at(0).second.data);
}

TEST(GemmSm120Errors, SizesAndMachinesThatItDoesNotTake) {
  const std::pair<const char*, const char*> cases[] = {{"--k=128", kArch},
                                                       {"--n=3", kArch},
                                                       {"--k=64 --format=mxf8", kArch},
                                                       {"--a-format=e5m2", kArch},
                                                       {"--m=128", "sm_100a"}};
  for (const auto& [words, arch] : cases) {
    try {
      test::run_kernel(std::string("gemm-sm120-blockscaled ") + words, {.arch = arch});
      ADD_FAILURE() << words << " on " << arch;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E2302) << words << " on " << arch << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace drywell
