// gemm-blockwise: granularities, majors, tiles, one and two CTAs, grouped, swapped; bit for bit, the same under every driver.
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include <fmt/format.h>

#include "drywell/isa/layout/print.h"

#include "kernels/blockwise/kernel_name.h"
#include "kernels/gemm/blockwise.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

class GemmBlockwise : public testing::TestWithParam<std::string> {};

TEST_P(GemmBlockwise, EqualsTheReferenceUnderEveryDriver) { test::expect_verified_under_every_driver("gemm-blockwise " + GetParam()); }
TEST_P(GemmBlockwise, Assembles) { test::expect_assembles("gemm-blockwise " + GetParam()); }

std::string name_of(const testing::TestParamInfo<std::string>& p) { return fmt::format("{}_{}", p.index, test::words_name(p.param)); }

/// Every granularity that "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell" names and those around them, in turn with shapes,
/// majors, formats and tiles.
std::vector<std::string> matrix() {
  static constexpr const char* kGranularities[] = {"--scale-m=1 --scale-n=128 --scale-k=128", "--scale-m=128 --scale-n=128 --scale-k=128",
                                                   "--scale-m=64 --scale-n=1 --scale-k=128", "--scale-m=1 --scale-n=1 --scale-k=128",
                                                   "--scale-m=1 --scale-n=64 --scale-k=64", "--scale-m=32 --scale-n=16 --scale-k=32",
                                                   "--scale-m=128 --scale-n=64 --scale-k=64", "--scale-m=16 --scale-n=32 --scale-k=128"};
  static constexpr const char* kShapes[] = {"--m=144 --n=144 --k=272", "--m=208 --n=80 --k=144", "--m=80 --n=272 --k=400"};
  static constexpr const char* kOptions[] = {"--d-type=f32 --distribution=codes",
                                             "--beta=-0.5 --sfa-major=k --ctas=2",
                                             "--sfb-major=k --d-type=f16 --alpha=0.125",
                                             "--a-major=mn --a-format=e5m2 --ctas=1",
                                             "--b-major=mn --sfa-major=k --sfb-major=k --b-format=e5m2 --d-type=f32 --beta=2"};
  std::vector<std::string> all;
  unsigned turn = 0;
  for (const char* granularity : kGranularities) {
    for (const int group : {1, 2}) {
      const int bn = std::string(granularity).find("-n=128") == std::string::npos && turn % 3 == 1 ? 64 : 128;
      all.push_back(fmt::format("{} --cta-group={} --bn={} {} {}", granularity, group, bn, kShapes[turn % 3], kOptions[turn % 5]));
      ++turn;
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Granularities, GemmBlockwise, testing::ValuesIn(matrix()), name_of);

INSTANTIATE_TEST_SUITE_P(Tiles, GemmBlockwise,
                         testing::Values("--m=128 --n=80 --k=128 --bn=16 --scale-n=16 --d-type=f32", "--m=136 --n=72 --k=272 --bn=32 --scale-n=8 --distribution=codes",
                                         "--m=264 --n=72 --k=144 --bn=32 --scale-n=32 --cta-group=2 --beta=1", "--m=136 --n=264 --k=272 --bn=64 --scale-n=64 --cluster-n=2",
                                         "--m=272 --n=264 --k=272 --bn=64 --scale-n=64 --cluster-n=2 --cta-group=2 --a-major=mn",
                                         "--m=136 --n=272 --k=144 --bn=32 --scale-n=32 --b-major=mn", "--m=1 --n=8 --k=16"),
                         name_of);

// "the smallest MMA_M dimension is 64, but MMA_N dimension can be as small as 8 for some instructions"; 64 rows of one CTA, and 128 over
// two; tiles of 256 columns.
INSTANTIATE_TEST_SUITE_P(Rows64, GemmBlockwise,
                         testing::Values("--bm=64 --m=144 --n=144 --k=272 --d-type=f32 --distribution=codes", "--bm=64 --m=72 --n=24 --k=144 --bn=8 --scale-n=8 --d-type=f32 --beta=1",
                                         "--bm=64 --m=80 --n=264 --k=272 --bn=256 --scale-m=64 --scale-k=32 --sfa-major=k", "--bm=64 --m=72 --n=24 --k=144 --bn=16 --scale-n=4 --beta=2",
                                         "--bm=64 --m=208 --n=144 --k=144 --cluster-n=2 --a-major=mn --b-major=mn --scale-k=64",
                                         "--bm=64 --cta-group=2 --m=144 --n=144 --k=272 --beta=1 --scale-m=16", "--bm=64 --cta-group=2 --m=264 --n=264 --k=144 --bn=256 --scale-n=2 --d-type=f16",
                                         "--bm=64 --cta-group=2 --m=136 --n=264 --k=272 --bn=32 --scale-n=16 --cluster-n=2 --d-type=f32 --ctas=4"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Columns256, GemmBlockwise,
                         testing::Values("--bn=256 --m=144 --n=272 --k=272 --beta=1", "--bn=256 --m=136 --n=520 --k=144 --scale-n=1 --scale-m=128 --d-type=f32 --ctas=2",
                                         "--bn=256 --cta-group=2 --m=264 --n=264 --k=400 --scale-n=64 --scale-k=64 --distribution=codes --d-type=f16"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ColumnMajorD, GemmBlockwise,
                         testing::Values("--d-major=mn --m=144 --n=137 --k=272 --beta=1", "--d-major=mn --m=136 --n=72 --k=144 --bm=64 --bn=32 --scale-n=32 --d-type=f32 --beta=-1",
                                         "--d-major=mn --m=144 --n=264 --k=144 --bm=64 --bn=256 --d-type=f16 --beta=0.5", "--d-major=mn --m=72 --n=20 --k=144 --bm=64 --bn=8 --scale-n=8",
                                         "--d-major=mn --m=264 --n=144 --k=144 --cta-group=2 --bn=256 --beta=1", "--d-major=mn --m=144 --n=136 --k=272 --bm=64 --cta-group=2 --beta=1"),
                         name_of);

// "For problem sizes where M is small consider computing D^T = alpha B^T A^T + beta C^T instead"; "we must swap the scale vector
// sizes".
INSTANTIATE_TEST_SUITE_P(Swapped, GemmBlockwise,
                         testing::Values("--m=16 --n=264 --k=272 --bn=16 --swap", "--m=8 --n=200 --k=144 --bn=32 --swap --beta=1 --d-type=f32",
                                         "--m=40 --n=264 --k=144 --bn=32 --swap --cta-group=2 --scale-m=32 --scale-n=64 --sfa-major=k --distribution=codes"),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Grouped, GemmBlockwise,
                         testing::Values("--groups=136x72x272,64x136x144,8x8x16 --ctas=2", "--groups=264x136x144,8x136x400 --cta-group=2 --beta=1",
                                         "--groups=136x136x144,136x136x144,136x136x144,136x136x144 --scale-m=64 --scale-n=1 --sfb-major=k",
                                         "--groups=8x136x144,16x72x272 --swap --bn=16 --d-type=f32 --ctas=3", "--groups=64x64x128",
                                         "--groups=144x80x272,64x144x144,16x16x16 --ctas=1 --d-major=mn --a-major=mn --b-major=mn --beta=1",
                                         "--groups=72x264x144,136x8x272 --bm=64 --bn=256 --ctas=1 --beta=1", "--groups=144x264x144,8x520x272 --bn=256 --cta-group=2 --ctas=2"),
                         name_of);

// Clusters of several tiles along m and n: A is shared along n, B along m. Edges cut through tiles and leave CTAs without rows or columns.
INSTANTIATE_TEST_SUITE_P(Clusters, GemmBlockwise,
                         testing::Values("--cluster-m=2 --m=264 --n=72 --k=272 --bn=64 --scale-n=64", "--cluster-m=2 --cluster-n=2 --m=272 --n=264 --k=400 --beta=1 --ctas=4",
                                         "--cluster-m=4 --cluster-n=2 --bm=64 --m=272 --n=144 --k=272 --bn=64 --scale-n=16 --b-major=mn --stages=2",
                                         "--cluster-m=4 --cluster-n=4 --bm=64 --m=264 --n=136 --k=272 --bn=32 --scale-n=8 --d-type=f32 --distribution=codes",
                                         "--cluster-m=2 --cta-group=2 --m=528 --n=72 --k=272 --bn=64 --scale-n=32 --a-major=mn", "--cluster-m=2 --cluster-n=2 --cta-group=2 --bm=64 --m=264 --n=144 --k=400 --bn=64 --scale-n=64 --beta=-1",
                                         "--cluster-m=2 --cluster-n=4 --cta-group=2 --bm=64 --m=136 --n=272 --k=144 --bn=64 --scale-n=1 --b-major=mn --d-major=mn",
                                         "--cluster-m=4 --cluster-n=2 --cta-group=2 --bm=64 --m=520 --n=72 --k=144 --bn=64 --scale-k=64 --scale-n=64",
                                         "--cluster-n=8 --bm=64 --m=80 --n=264 --k=144 --bn=32 --scale-n=32 --a-major=mn", "--cluster-m=8 --m=264 --n=80 --k=144 --bn=64 --scale-n=64 --b-major=mn --beta=1",
                                         "--cluster-m=2 --cluster-n=2 --groups=136x72x272,64x136x144,8x8x16 --bm=64 --bn=64 --scale-n=64 --ctas=4"),
                         name_of);

TEST(GemmBlockwiseMatrix, HasAtLeastThirtyConfigurations) { EXPECT_GE(matrix().size() + 7 + 3 + 8, 30u); }

// "For example cutlass3x_sm100_…_64x128x128_1x1x1_0_nnn_align16_1sm": the kernel of that name, and others that follow the same pattern
// ("f8": "runtime f8 types"), as the words that `drywell list --explain` answers.
TEST(GemmBlockwiseNames, RunHere) {
  for (const char* name : {"cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nnn_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_128x128f32xe4m3_1x128f32xe4m3_f32_void_f32_128x256x128_1x2x1_0_tnt_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_1x128f32xf8_128x128f32xf8_f32_void_bf16_256x128x128_2x1x1_0_ntn_align16_2sm",
                           "cutlass3x_sm100_tensorop_gemm_1x128f32xe4m3_128x128f32xe4m3_f32_void_bf16_128x128x128_2x2x1_0_tnt_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_1x128f32xf8_128x128f32xf8_f32_bf16_bf16_128x128x128_4x2x1_0_tnn_align16_2sm",
                           "cutlass3x_sm100_tensorop_gemm_64x128f32xf8_1x128f32xf8_f32_void_f32_64x64x128_4x4x1_0_ntt_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_128x128f32xe4m3_1x128f32xe4m3_f32_void_f16_128x64x128_0x0x1_0_tnt_align16_1sm",
                           "cutlass3x_sm100_tensorop_gemm_grouped_64x128f32xe4m3_128x128f32xe5m2_f32_bf16_bf16_128x128x128_2x1x1_0_tnt_align16_2sm"}) {
    std::string words = blockwise::equivalent(blockwise::parse_kernel_name(name));
    ASSERT_TRUE(words.starts_with("gemm-blockwise ")) << words;
    if (words.find("--groups") == std::string::npos) words += " --m=144 --n=272 --k=272";
    const KernelReport r = test::run_kernel(words, {.verify = true});
    ASSERT_TRUE(r.run.ok()) << name << ": " << r.run.fault->to_string();
    EXPECT_TRUE(r.verify.passed()) << name << ": " << r.verify.first_mismatch;
  }
}

/// Records the sources and destinations of tensor copies.
class TensorRecorder : public sim::Listener {
 public:
  void async(const sim::Cluster&, const sim::AsyncOp& op, sim::AsyncMoment moment) override {
    if (moment != sim::AsyncMoment::read) return;
    if (const auto* t = std::get_if<sim::TensorCopy>(&op.payload)) {
      Diagnostics none;
      tensors.insert(isa::decode(isa::TensorMap{t->map}, none).address);
    }
  }
  std::set<uint64_t> tensors;
};

// "Grouped GEMM": per-group shapes and pointers; the host passes patterns, and the kernel makes the maps of each group.
TEST(GemmBlockwiseGrouped, EveryGroupHasItsOwnTensors) {
  TensorRecorder one, three;
  ASSERT_TRUE(test::run_kernel("gemm-blockwise --groups=64x64x128", {.listeners = {&one}}).run.ok());
  ASSERT_TRUE(test::run_kernel("gemm-blockwise --groups=64x64x128,8x72x144,136x8x272", {.listeners = {&three}}).run.ok());
  EXPECT_EQ(one.tensors.size(), 3u);  // A, B, D
  EXPECT_EQ(three.tensors.size(), 9u);
}

// "SFA: broadcast the same scale within a block": a product of ones shows the factors themselves.
TEST(GemmBlockwiseValues, FactorsAreBroadcast) {
  blockwise::Problem p;
  p.shape = {128, 128, 256};
  const auto ones = [](uint64_t rows) {
    return QuantizedMatrix{.format = numeric::Format::e4m3, .rows = rows, .k = 256, .codes = std::vector<uint16_t>(rows * 256, 0x38)};
  };
  p.a = ones(128);
  p.b = ones(128);
  for (int i = 0; i < 4; ++i) p.sfa.push_back(static_cast<float>(1 << i));  // two rows of blocks, two along k
  p.sfb = {1, 16};
  gemm::GemmConfig c;
  c.kind = isa::MmaKind::f8f6f4;
  c.a.element = c.b.element = isa::MmaElement::e4m3;
  c.block = {64, 128, 128};
  c.output = isa::TensorType::f32;
  SimulatedDevice device;
  const BlockwiseResult r = run_blockwise(device, gemm::GemmPlan(c), std::span(&p, 1), {}, {});
  ASSERT_TRUE(r.run.ok());
  for (uint64_t i = 0; i < 128; ++i) {
    const float want = i < 64 ? 128 * (1 + 2 * 16) : 128 * (4 + 8 * 16);
    for (uint64_t j = 0; j < 128; j += 17) EXPECT_EQ(std::bit_cast<float>(r.d[0][i * 128 + j]), want) << i << ", " << j;
  }
}

// Sm100BlockwiseScaleConfig: ((granularity M, M / granularity M), (granularity K, K / granularity K)) : ((0, int), (0, int)).
TEST(GemmBlockwiseLayout, ImagesAreTheArticlesLayouts) {
  using layout::IntTuple;
  for (const isa::Major major : {isa::Major::mn, isa::Major::k}) {
    const blockwise::ScaleConfig config{64, 1, 128, major, major};
    const blockwise::ScaleShape a = blockwise::scale_shape(256, 512, config.m, config.k, major), b = blockwise::scale_shape(96, 512, config.n, config.k, major);
    const layout::Layout la = layout::tile_atom_to_shape_sfa(config.layout(), IntTuple::of({256, 96, 512})),
                         lb = layout::tile_atom_to_shape_sfb(config.layout(), IntTuple::of({256, 96, 512}));
    for (const uint64_t k : {0, 127, 128, 511}) {
      for (const uint64_t r : {0, 63, 64, 200}) {
        const auto at = static_cast<int64_t>(r / 64 * a.row_stride + k / 128 * a.k_stride);
        EXPECT_EQ(layout::to_string(la(IntTuple::of({static_cast<int64_t>(r), static_cast<int64_t>(k), 0})), layout::Marks::plain), std::to_string(at));
      }
      const auto at = static_cast<int64_t>(95 * b.row_stride + k / 128 * b.k_stride);
      EXPECT_EQ(layout::to_string(lb(IntTuple::of({95, static_cast<int64_t>(k), 0})), layout::Marks::plain), std::to_string(at));
    }
  }
}

TEST(GemmBlockwiseErrors, SayWhatDoesNotFit) {
  for (const char* text : {"--bn=8", "--bm=64 --bn=8 --scale-n=8", "--bm=64 --scale-m=128", "--scale-m=48", "--scale-n=128 --bn=64", "--scale-k=16", "--bn=16 --scale-n=16 --cta-group=2", "--bn=16 --scale-n=16 --b-major=mn",
                           "--groups=1x2", "--groups=64x64x64,", "--groups=0x8x8", "--cluster-m=4 --cluster-n=4 --cta-group=2", "--cluster-m=4 --bm=64 --bn=16 --scale-n=16"}) {
    try {
      test::run_kernel(std::string("gemm-blockwise ") + text);
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E2310) << text;
    }
  }
}

}  // namespace
}  // namespace drywell::kernels
