// CUTLASS's names of blockwise GEMM kernels.
#include "kernels/blockwise/kernel_name.h"

#include <gtest/gtest.h>

#include "drywell/core/error.h"

namespace drywell::kernels::blockwise {
namespace {

constexpr const char* kArticle = "cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nnn_align16_1sm";

// The list of "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell", section
// "Kernel Naming Convention", line by line.
TEST(KernelName, SaysWhatTheArticleSays) {
  const std::vector<std::string> want = {"a CUTLASS 3 GEMM for SM100 that uses tensor cores",
                                         "SFA is f32 with a 64 element scale granularity m and a 128 element scale granularity k",
                                         "the A matrix is e4m3",
                                         "SFB is f32 with a 1 element scale granularity n and a 128 element scale granularity k",
                                         "the B matrix is e4m3",
                                         "the epilogue is done in f32",
                                         "the C matrix is f16",
                                         "the D matrix is f16",
                                         "the MMA tile shape is 64x128x128",
                                         "the cluster shape is 1x1x1",
                                         "as many stages as fit",
                                         "A, B, C, and D are all column major",
                                         "the alignment of the major modes is 16 elements for A, B, C, and D",
                                         "the MMA variant is a 1SM instruction"};
  EXPECT_EQ(explain(parse_kernel_name(kArticle)), want);
}

// "C can be void if scaling by beta is not needed."
TEST(KernelName, EquivalentHere) {
  EXPECT_EQ(equivalent(parse_kernel_name("cutlass3x_sm100_tensorop_gemm_1x128f32xe4m3_128x128f32xe5m2_f32_void_bf16_256x128x128_2x1x1_0_tnt_align16_2sm")),
            "gemm-blockwise --a-format=e4m3 --b-format=e5m2 --scale-m=1 --scale-n=128 --scale-k=128 --bn=128 --d-type=bf16 --cta-group=2");
  EXPECT_EQ(equivalent(parse_kernel_name("cutlass3x_sm90_tensorop_gemm_128x128f32xe4m3_128x128f32xe4m3_f32_f16_f16_128x128x128_1x1x1_4_tnt_align16")),
            "gemm-sm90-blockwise --arch=sm_90a --a-format=e4m3 --b-format=e4m3 --scale-m=128 --scale-n=128 --scale-k=128 --bn=128 --d-type=f16 --beta=1 --stages=4");
  EXPECT_EQ(equivalent(parse_kernel_name(kArticle)),
            "gemm-blockwise --a-format=e4m3 --b-format=e4m3 --scale-m=64 --scale-n=1 --scale-k=128 --bn=128 --d-type=f16 --beta=1 --d-major=mn --bm=64 --a-major=mn");
  EXPECT_EQ(equivalent(parse_kernel_name("cutlass3x_sm90_tensorop_gemm_1x128f32xe4m3_128x128f32xe4m3_f32_void_bf16_128x128x128_1x2x1_0_tnn_align16")),
            "gemm-sm90-blockwise --arch=sm_90a --a-format=e4m3 --b-format=e4m3 --scale-m=1 --scale-n=128 --scale-k=128 --bn=128 --d-type=bf16 --d-major=mn --cluster-n=2");
  EXPECT_EQ(equivalent(parse_kernel_name("cutlass3x_sm100_tensorop_gemm_1x128f32xe4m3_128x128f32xe4m3_f32_void_bf16_256x128x128_4x1x1_0_tnt_align16_2sm")),
            "gemm-blockwise --a-format=e4m3 --b-format=e4m3 --scale-m=1 --scale-n=128 --scale-k=128 --bn=128 --d-type=bf16 --cluster-m=2 --cta-group=2");
  EXPECT_EQ(equivalent(parse_kernel_name("cutlass3x_sm100_tensorop_gemm_1x128f32xe4m3_128x128f32xe4m3_f32_void_bf16_128x128x128_4x4x1_0_tnt_align16_1sm")),
            "gemm-blockwise --a-format=e4m3 --b-format=e4m3 --scale-m=1 --scale-n=128 --scale-k=128 --bn=128 --d-type=bf16 --cluster-m=4 --cluster-n=4");
}

// A cluster shape of 0x0x1 is the launch's to say, as the profiler's --cluster_m and --cluster_n do.
TEST(KernelName, Clusters) {
  const auto name = [](const char* cluster, const char* group) {
    return parse_kernel_name(std::string("cutlass3x_sm100_tensorop_gemm_1x128f32xe4m3_128x128f32xe4m3_f32_void_bf16_256x128x128_") + cluster + "_0_tnt_align16_" + group);
  };
  EXPECT_EQ(explain(name("0x0x1", "2sm"))[9], "the cluster shape is given at the launch");
  EXPECT_EQ(equivalent(name("0x0x1", "2sm")),
            "gemm-blockwise --a-format=e4m3 --b-format=e4m3 --scale-m=1 --scale-n=128 --scale-k=128 --bn=128 --d-type=bf16 --cta-group=2");
  EXPECT_EQ(equivalent(name("1x1x1", "2sm")), "none: a 2SM instruction takes two CTAs along m");
  EXPECT_EQ(equivalent(name("16x1x1", "1sm")), "none: clusters here have 1, 2, 4 or 8 tiles along m and along n");
  EXPECT_EQ(equivalent(name("2x1x2", "2sm")), "none: clusters along k");
}

// "-DCUTLASS_LIBRARY_KERNELS=cutlass3x*f32xe4m3_*f32xe4m3*,cutlass3x*f32xf8_*f32xf8*": "e4m3 or runtime f8 types", "Grouped GEMMs".
TEST(KernelName, RuntimeTypesAndGroups) {
  const auto n = parse_kernel_name("cutlass3x_sm100_tensorop_gemm_grouped_1x128f32xf8_128x128f32xf8_f32_void_bf16_128x128x128_1x1x1_0_tnt_align16_1sm");
  EXPECT_EQ(n.problem, "gemm_grouped");
  EXPECT_EQ(explain(n)[0], "a CUTLASS 3 grouped GEMM for SM100 that uses tensor cores");
  EXPECT_EQ(explain(n)[2], "the A matrix is f8, e4m3 or e5m2 as the launch says");
  EXPECT_EQ(explain(n)[6], "there is no C matrix");
}

TEST(KernelName, RefusesWhatIsNone) {
  for (const char* name : {"", "gemm", "cutlass3x_sm100", "cutlass3x_smXX_tensorop_gemm_1x1f32xe4m3", "cutlass3x_sm100_tensorop_gemm_64x128f32_1x128f32xe4m3_f32_f16_f16",
                           "cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128_1x1x1_0_nnn_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nxn_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nnn_16_1sm"}) {
    try {
      parse_kernel_name(name);
      ADD_FAILURE() << name;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E2311) << name;
    }
  }
}

}  // namespace
}  // namespace drywell::kernels::blockwise
