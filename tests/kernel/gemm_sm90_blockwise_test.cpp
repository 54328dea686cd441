// gemm-sm90-blockwise on the simulated H100: block- and groupwise scales by TMA and by cp.async, bit for bit with Hopper's narrow
// accumulation, the same under every driver; and what
// "SM90 Blockwise Scaling and Groupwise Scaling", section "Copies", prints about its loads.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <regex>
#include <set>
#include <sstream>

#include "drywell/core/files.h"
#include "kernels/gemm_sm90/sm90.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "support/kernel_run.h"
#include "support/paths.h"

namespace drywell::kernels {
namespace {

constexpr const char* kArch = "sm_90a";

class GemmSm90Blockwise : public testing::TestWithParam<std::string> {};

TEST_P(GemmSm90Blockwise, EqualsTheReferenceUnderEveryDriver) { test::expect_verified_under_every_driver("gemm-sm90-blockwise " + GetParam(), kArch); }
TEST_P(GemmSm90Blockwise, Assembles) { test::expect_assembles("gemm-sm90-blockwise " + GetParam(), kArch); }

std::string name_of(const testing::TestParamInfo<std::string>& p) { return fmt::format("{}_{}", p.index, test::words_name(p.param)); }

// The same words as traces/hw/gemm_sm90_blockwise/configurations.txt, which run on an H200.
const std::vector<std::string> kMatrix = {
    "--m=256 --n=256 --k=256 --scale-m=128 --scale-n=128", "--m=256 --n=256 --k=384 --scale-m=1 --scale-n=128",
    "--m=200 --n=136 --k=272 --scale-m=1 --scale-n=128 --distribution=codes --d-type=f32",
    "--m=136 --n=264 --k=400 --scale-m=128 --scale-n=1 --bn=64 --d-type=f16", "--m=136 --n=128 --k=256 --scale-m=1 --scale-n=1 --d-type=f32",
    "--m=256 --n=192 --k=144 --scale-m=2 --scale-n=64 --bn=64 --beta=1 --alpha=0.5",
    "--m=512 --n=128 --k=272 --scale-m=4 --scale-n=32 --distribution=codes --ctas=2", "--m=136 --n=136 --k=256 --scale-m=64 --scale-n=16 --a-format=e5m2",
    "--m=72 --n=72 --k=528 --scale-m=8 --scale-n=8 --b-format=e5m2 --d-type=f32 --beta=-0.5 --stages=2",
    "--m=300 --n=40 --k=144 --scale-m=128 --scale-n=32 --bn=32 --a-format=e5m2 --b-format=e5m2 --distribution=codes --d-type=f32",
    "--m=264 --n=272 --k=144 --scale-m=32 --scale-n=4 --bn=128 --stages=3 --ctas=1", "--m=128 --n=256 --k=272 --scale-m=128 --scale-n=2 --beta=2 --d-type=f16",
    "--m=4 --n=8 --k=16 --scale-m=1 --scale-n=128 --distribution=codes --d-type=f32",
    "--m=256 --n=256 --k=384 --scale-m=1 --scale-n=128 --cluster-n=2", "--m=256 --n=200 --k=272 --scale-m=128 --scale-n=128 --cluster-m=2 --beta=1",
    "--m=500 --n=600 --k=144 --scale-m=1 --scale-n=128 --cluster-m=2 --cluster-n=2 --ctas=8 --distribution=codes --d-type=f32",
    "--m=136 --n=520 --k=272 --scale-m=2 --scale-n=1 --cluster-n=4 --d-type=f16", "--m=520 --n=72 --k=272 --scale-m=64 --scale-n=32 --bn=32 --cluster-m=4",
    "--m=200 --n=136 --k=272 --scale-m=1 --scale-n=128 --scale-k=64 --d-major=mn", "--m=136 --n=136 --k=272 --scale-m=128 --scale-n=64 --scale-k=32 --d-major=mn --beta=1 --d-type=f32"};
INSTANTIATE_TEST_SUITE_P(Matrix, GemmSm90Blockwise, testing::ValuesIn(kMatrix), name_of);

// Results of an H200 (drywell device run --clock): the same bytes, and cycles for both.
TEST(GemmSm90BlockwiseSilicon, EveryConfigurationIsIdenticalOnAnH200) {
  const std::string folder = test::source_path("traces/hw/gemm_sm90_blockwise/"), record = read_text_file(folder + "h200.txt");
  std::istringstream configurations(read_text_file(folder + "configurations.txt"));
  size_t count = 0;
  for (std::string words; std::getline(configurations, words); ++count) {
    if (count < kMatrix.size()) {
      EXPECT_EQ(words, kMatrix[count]);
    }
    const size_t at = record.find("== " + words + "\n");
    ASSERT_NE(at, std::string::npos) << words;
    const std::string said = record.substr(at, record.find("\n==", at) - at);
    EXPECT_NE(said.find("identical: "), std::string::npos) << said;
    EXPECT_EQ(said.find("DIFFERENT"), std::string::npos) << said;
    EXPECT_NE(said.find("clock, GPU "), std::string::npos) << said;
    EXPECT_NE(said.find("clock, timed "), std::string::npos) << said;
  }
  EXPECT_GE(count, kMatrix.size());
}

// The table of the kernel's page shows the record's figures.
TEST(GemmSm90BlockwiseSilicon, ThePageShowsTheRecord) {
  const std::string record = read_text_file(test::source_path("traces/hw/gemm_sm90_blockwise/h200.txt"));
  std::istringstream page(read_text_file(test::source_path("docs/kernels/gemm-sm90-blockwise.md")));
  const std::regex row("\\| (?:2048|4096) \\| [^|]* \\| ([0-9,]+) \\| ([0-9,]+) \\| .*");
  const auto cycles = [](std::string text) {
    std::erase(text, ',');
    return text + " cycles";
  };
  size_t rows = 0;
  for (std::string line; std::getline(page, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, row)) continue;
    ++rows;
    const size_t at = record.find("clock, GPU    " + cycles(m[1]));
    ASSERT_NE(at, std::string::npos) << line;
    EXPECT_EQ(record.find("clock, timed  " + cycles(m[2]), at), record.find("clock, timed", at)) << line;
  }
  EXPECT_EQ(rows, 7u);
}

blockwise::Sm90Plan plan(uint32_t scale_m, uint32_t scale_n, uint32_t bn = 128) {
  blockwise::Sm90Config c;
  c.scales = {scale_m, scale_n, 128};
  c.bn = bn;
  return blockwise::Sm90Plan(c);
}

// "IsTmaLoadSFA = ScaleMsPerTile >= ScaleTmaThreshold && ScaleNsPerTile < ScaleTmaThreshold", and the same for SFB.
TEST(GemmSm90BlockwiseArticle, ScaleTmaThresholdDecides) {
  EXPECT_EQ(blockwise::Sm90Plan::kScaleTmaThreshold, 32u);
  EXPECT_FALSE(plan(128, 128).tma_sfa());  // blockwise: one factor, cp.async
  EXPECT_FALSE(plan(128, 128).tma_sfb());
  EXPECT_TRUE(plan(1, 128).tma_sfa());  // groupwise: 128 of SFA by TMA, one of SFB by cp.async
  EXPECT_FALSE(plan(1, 128).tma_sfb());
  EXPECT_TRUE(plan(4, 128).tma_sfa());
  EXPECT_FALSE(plan(8, 128).tma_sfa());
  EXPECT_TRUE(plan(128, 4).tma_sfb());
  EXPECT_FALSE(plan(1, 1).tma_sfa() || plan(1, 1).tma_sfb());
}

// "SmemLayoutSFA{}: ((_1,_128),(_128,_1),_4):((_0,_1),(_0,_128),_128)", "SmemLayoutSFB{}: ((_128,_1),(_128,_1),_4):((_0,_1),(_0,_1),_1)".
TEST(GemmSm90BlockwiseArticle, FactorsOfAStage) {
  EXPECT_EQ(plan(1, 128).sfa.count(), 128u);
  EXPECT_EQ(plan(1, 128).sfb.count(), 1u);
  EXPECT_EQ(plan(128, 128).sfa.count(), 1u);
  EXPECT_EQ(plan(1, 128).sfa_pitch(), 4u * 128);
}

class Recorder : public sim::Listener {
 public:
  void async(const sim::Cluster&, const sim::AsyncOp& op, sim::AsyncMoment moment) override {
    if (moment != sim::AsyncMoment::read) return;
    if (const auto* t = std::get_if<sim::TensorCopy>(&op.payload)) loads.insert(t->smem);
  }
  void mbarrier(const sim::Cta&, uint32_t, const sim::Mbarrier&, sim::MbarrierEvent e, int64_t amount) override {
    if (e == sim::MbarrierEvent::init) counts.insert(amount);
    if (e == sim::MbarrierEvent::expect_tx) expected.insert(amount);
  }
  std::set<uint32_t> loads;
  std::set<int64_t> counts, expected;
};

// "NumProducerThreadEvents = ((IsTmaLoadSFA && IsTmaLoadSFB)? 1 : 33)".
TEST(GemmSm90BlockwiseArticle, ThirtyThreeProducerEvents) {
  for (const char* scales : {"--scale-m=128 --scale-n=128", "--scale-m=1 --scale-n=128"}) {
    Recorder seen;
    ASSERT_TRUE(test::run_kernel(std::string("gemm-sm90-blockwise --m=128 --n=128 --k=512 ") + scales, {.arch = kArch, .listeners = {&seen}}).run.ok());
    EXPECT_TRUE(seen.counts.contains(33)) << scales;
    const bool groupwise = std::string(scales).find("-m=1 ") != std::string::npos;
    EXPECT_EQ(seen.expected, std::set<int64_t>{2 * 128 * 128 + (groupwise ? 4 * 128 : 0)}) << scales;
    EXPECT_EQ(seen.loads.size(), groupwise ? 12u : 8u) << scales;  // four stages of A, B and perhaps SFA
  }
}

TEST(GemmSm90BlockwiseErrors, SayWhatDoesNotFit) {
  const auto code_of = [](const std::string& words, const char* arch) -> std::optional<Code> {
    try {
      test::run_kernel("gemm-sm90-blockwise " + words, {.arch = arch});
    } catch (const InputError& e) {
      return e.code();
    }
    return std::nullopt;
  };
  EXPECT_EQ(code_of("--m=128 --n=128 --k=128", "sm_100a"), Code::E2310);
  for (const char* words : {"--scale-k=16", "--cluster-m=4 --cluster-n=4", "--scale-m=48", "--scale-n=128 --bn=64", "--m=130 --scale-m=1", "--n=132 --scale-m=128 --scale-n=2", "--stages=8", "--k=100"})
    EXPECT_EQ(code_of(words, kArch), Code::E2310) << words;
}

}  // namespace
}  // namespace drywell::kernels
