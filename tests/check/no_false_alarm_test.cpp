// Correct programs: the conformance suite and the kernels. Nothing may be reported.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "conformance/programs/program.h"
#include "drywell/sim/check.h"
#include "kernels/registry.h"
#include "launch/plan.h"
#include "support/paths.h"

namespace drywell::kernels {
namespace {

void expect_silence(const sim::HazardChecker& checker, const std::string& what, const std::set<std::string>& admitted = {}) {
  for (const sim::Finding& f : checker.findings()) {
    if (!admitted.contains(f.code)) ADD_FAILURE() << what << ": " << f.to_string();
  }
}

TEST(NoFalseAlarm, ConformanceSuite) {
  SimulatedDevice device;
  size_t programs = 0;
  for (const conformance::ProgramSpec& s : conformance::suite()) {
    // Scalar families have one store for each lane: a few of them will do.
    if (++programs % 7 != 0 && s.family != "tma" && s.family != "bulk" && s.family != "cluster" && s.family != "mbarrier" && s.family != "async_copy") continue;
    conformance::Program p;
    try {
      p = s.make(isa::Target::sm_100a);
    } catch (const InputError&) {
      continue;
    }
    sim::HazardChecker checker;
    sim::RunOptions o;
    o.listeners.push_back(checker.listener());
    conformance::run(p, device, o);
    // CTAs outside the mask of a multicast expect bytes that do not come.
    expect_silence(checker, s.name, s.name.starts_with("bulk.load.multicast") ? std::set<std::string>{"H7305"} : std::set<std::string>{});
  }
}

const std::pair<sim::DriverKind, uint64_t> kSchedules[] = {{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 5}, {sim::DriverKind::timed, 0}};

class Kernels : public testing::TestWithParam<const char*> {};

TEST_P(Kernels, AreSilent) {
  std::istringstream in(GetParam());
  std::string word;
  in >> word;
  const Kernel& kernel = find_kernel(word);
  std::vector<std::pair<std::string, std::string>> given;
  std::string arch = "sm_100a";
  while (in >> word) {
    const size_t equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word.starts_with("--arch=")) {
      arch = value;
    } else {
      given.emplace_back(word.substr(2, equals - 2), value);
    }
  }
  for (const auto& [driver, seed] : kSchedules) {
    sim::HazardChecker checker;
    RunContext c;
    c.arch = arch;
    c.params = Params(kernel.name, kernel.parameters, given);
    c.options.driver = driver;
    c.options.seed = seed;
    c.options.listeners = {checker.listener()};
    const KernelReport r = kernel.run(c);
    EXPECT_TRUE(r.run.ok()) << r.run.fault->to_string();
    expect_silence(checker, GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(Tree, Kernels,
                         testing::Values("tma-copy --rows=200 --columns=132", "tma-copy --rows=256 --columns=256 --swizzle=none", "fused-rht --m=256 --n=256",
                                         "fused-rht --m=512 --n=264 --rounding=stochastic", "gemm-bf16 --m=200 --n=136 --k=192",
                                         "gemm-bf16 --m=512 --n=256 --k=256 --cta-group=2 --ctas=2", "gemm-bf16 --m=256 --n=512 --k=192 --cluster-n=2 --ctas=2",
                                         "gemm-bf16 --m=256 --n=256 --k=192 --a-major=mn --b-major=mn", "gemm-blockscaled --m=256 --n=256 --k=768 --ctas=1",
                                         "gemm-blockscaled --m=512 --n=256 --k=512 --cta-group=2 --beta=1",
                                         "gemm-blockscaled --m=256 --n=256 --k=512 --format=mxf8-e4m3 --cluster-n=2", "gemm-fp8 --m=256 --n=256 --k=256 --bn=64"));

class CudaExamples : public testing::TestWithParam<const char*> {};

TEST_P(CudaExamples, AreSilent) {
  const LaunchPlan plan = read_launch_file(test::source_path(std::string("examples/cuda/") + GetParam() + ".toml"));
  for (const auto& [driver, seed] : kSchedules) {
    sim::HazardChecker checker;
    SimulatedDevice device({.arch = std::string_view(GetParam()) == "tma_copy" ? "sm_90a" : "sm_100a"});  // the PTX's targets
    PlanOptions o;
    o.run.driver = driver;
    o.run.seed = seed;
    o.run.listeners = {checker.listener()};
    for (const sim::RunResult& r : run_plan(plan, device, o).runs) EXPECT_TRUE(r.ok()) << r.fault->to_string();
    expect_silence(checker, GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(Tree, CudaExamples, testing::Values("tma_copy", "gemm_bf16", "gemm_mxf8", "gemm_nvf4"));

// The kernels of the articles (docs/facts/articles.md): the NVFP4 layer's and the software-scaled GEMMs, in the forms that synchronise
// differently.
INSTANTIATE_TEST_SUITE_P(
    Articles, Kernels,
    testing::Values("amax --rows=17 --columns=24", "rht-amax --rows=144 --columns=200", "quantize-nvfp4 --rows=160 --columns=96 --columnwise --rounding=stochastic",
                    "quantize-nvfp4-2d --rows=160 --columns=96", "swizzle-sf --rows=200 --columns=6", "interleave-shards --rows=33 --width=12 --shards=2",
                    "linear-nvfp4 --tokens=64 --in=64 --out=96", "linear-nvfp4 --parallel=column --ranks=2 --tokens=128 --in=32 --out=64",
                    "gemm-blockwise --m=144 --n=144 --k=272 --beta=1 --ctas=1", "gemm-blockwise --m=264 --n=72 --k=144 --bn=32 --scale-n=32 --cta-group=2 --beta=1",
                    "gemm-blockwise --m=136 --n=264 --k=272 --bn=64 --scale-n=64 --cluster-n=2 --scale-k=64", "gemm-blockwise --bm=64 --m=144 --n=144 --k=272 --beta=1",
                    "gemm-blockwise --bm=64 --cta-group=2 --m=144 --n=144 --k=272 --d-major=mn --beta=1", "gemm-blockwise --bn=256 --m=136 --n=264 --k=144 --beta=1",
                    "gemm-blockwise --m=264 --n=136 --k=272 --bm=64 --bn=64 --scale-n=64 --cluster-m=2 --cluster-n=2 --beta=1",
                    "gemm-blockwise --groups=136x72x272,64x136x144,8x8x16 --ctas=2 --beta=1", "gemm-blockwise --groups=264x136x144,8x136x400 --cta-group=2 --ctas=2 --bn=256",
                    "gemm-sm90-blockwise --arch=sm_90a --m=256 --n=256 --k=640 --ctas=2", "gemm-sm90-blockwise --arch=sm_90a --m=136 --n=128 --k=256 --scale-n=1 --beta=1",
                    "gemm-sm90-blockwise --arch=sm_90a --m=136 --n=128 --k=256 --scale-m=128 --scale-n=1 --d-major=mn",
                    "gemm-sm90-blockwise --arch=sm_90a --m=300 --n=304 --k=640 --cluster-m=2 --cluster-n=2 --ctas=4",
                    "gemm-sm120-blockscaled --arch=sm_120a --m=130 --n=136 --k=1280"));

}  // namespace
}  // namespace drywell::kernels
