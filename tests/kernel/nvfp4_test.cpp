// The NVFP4 kernels around the GEMM: bit for bit against the reference under every driver, PTX that ptxas takes.
#include <gtest/gtest.h>

#include <limits>

#include "drywell/kernels/device_arrays.h"
#include "kernels/nvfp4/nvfp4.h"
#include "kernels/reference/nvfp4.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

class Nvfp4 : public testing::TestWithParam<std::string> {};

TEST_P(Nvfp4, EqualsTheReferenceUnderEveryDriver) { test::expect_verified_under_every_driver(GetParam()); }
TEST_P(Nvfp4, Assembles) { test::expect_assembles(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Kernels, Nvfp4,
                         testing::Values("amax --rows=128 --columns=256", "amax --rows=17 --columns=24", "rht-amax --rows=256 --columns=128",
                                         "rht-amax --rows=80 --columns=72", "rht-amax --rows=16 --columns=8 --identity=false",
                                         "rht-amax --rows=144 --columns=200 --transformed=false", "swizzle-sf --rows=256 --columns=12",
                                         "swizzle-sf --rows=200 --columns=6", "swizzle-sf --rows=1 --columns=1", "interleave-shards --rows=64 --width=32 --shards=4",
                                         "interleave-shards --rows=33 --width=12 --shards=2", "interleave-shards --rows=7 --width=5 --shards=3"),
                         [](const auto& p) { return test::words_name(p.param); });

INSTANTIATE_TEST_SUITE_P(Quantize, Nvfp4,
                         testing::Values("quantize-nvfp4 --rows=128 --columns=256", "quantize-nvfp4 --rows=33 --columns=160 --scale-order=te",
                                         "quantize-nvfp4 --rows=160 --columns=96 --columnwise --rounding=stochastic --seed=123456789012 --offset=4294967294",
                                         "quantize-nvfp4 --rows=200 --columns=288 --rounding=stochastic --seed=7",
                                         "quantize-nvfp4 --rows=96 --columns=40 --rowwise=false --columnwise",
                                         "quantize-nvfp4 --rows=256 --columns=136 --rowwise=false --columnwise --rounding=stochastic --offset=9",
                                         "quantize-nvfp4 --rows=160 --columns=128 --columnwise --approximate-reciprocal --distribution=normal",
                                         "quantize-nvfp4 --rows=64 --columns=64 --amax=1000000",  // scales that underflow to zero
                                         "quantize-nvfp4-2d --rows=256 --columns=128", "quantize-nvfp4-2d --rows=160 --columns=288 --scale-order=te",
                                         "quantize-nvfp4-2d --rows=48 --columns=160 --columnwise=false",
                                         "quantize-nvfp4-2d --rows=96 --columns=144 --rowwise=false --distribution=uniform"),
                         [](const auto& p) { return test::words_name(p.param); });

TEST(Nvfp4Values, NanIsIgnoredByMaximaAndInfinityComesThrough) {
  constexpr uint64_t kRows = 32, kColumns = 32;
  std::vector<uint16_t> x(kRows * kColumns, 0x3F80);
  x[5] = 0x7FC0;
  x[kColumns + 3] = 0xFF80;
  x[2 * kColumns + 20] = 0x0001;
  SimulatedDevice device;
  DeviceArrays arrays(device);
  const nvfp4::Bf16Matrix in{arrays.make(x, "x"), kRows, kColumns};
  const GmemAddr amax = arrays.make(std::vector<float>{0}, "amax");
  ASSERT_TRUE(nvfp4::launch_amax(device, in, amax, {}).ok());
  EXPECT_EQ(arrays.read<float>(amax, 1)[0], std::numeric_limits<float>::infinity());
  nvfp4::QuantizeOptions o;
  o.columnwise = true;
  const auto matrix = [&](const char* name) {
    nvfp4::Nvfp4Matrix m{.amax = amax, .rows = kRows, .k = kColumns};
    m.codes = arrays.make(m.code_bytes(), name);
    m.scales = arrays.make(m.scale_bytes(), name);
    return m;
  };
  const auto row = matrix("row"), column = matrix("column");
  ASSERT_TRUE(nvfp4::launch_quantize(device, in, o, row, column, GmemAddr{}, {}).ok());
  const auto want = reference::quantize_nvfp4(x, kRows, kColumns, {.columnwise = true}, std::numeric_limits<float>::infinity(),
                                              std::numeric_limits<float>::infinity());
  EXPECT_EQ(arrays.read<uint8_t>(row.codes, row.code_bytes()), want.row.codes);
  EXPECT_EQ(arrays.read<uint8_t>(column.codes, column.code_bytes()), want.column.codes);
}

TEST(Nvfp4Errors, SayWhatDoesNotFit) {
  for (const char* text : {"quantize-nvfp4 --rows=33 --columns=32 --columnwise", "quantize-nvfp4 --rows=32 --columns=40", "quantize-nvfp4 --rowwise=false",
                           "quantize-nvfp4-2d --rows=24 --columns=32 --columnwise=false", "rht-amax --rows=24 --columns=32", "amax --columns=12"}) {
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
