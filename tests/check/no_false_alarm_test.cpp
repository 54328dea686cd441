// Correct programs: the conformance suite and the kernels. Nothing may be reported but what docs/hazards.md admits.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "drywell/sim/check.h"
#include "kernels/conformance/program.h"
#include "kernels/registry.h"

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
    expect_silence(checker, s.name);
  }
}

class Kernels : public testing::TestWithParam<const char*> {};

TEST_P(Kernels, AreSilent) {
  std::istringstream in(GetParam());
  std::string word;
  in >> word;
  const Kernel& kernel = find_kernel(word);
  std::vector<std::pair<std::string, std::string>> given;
  while (in >> word) {
    const size_t equals = word.find('=');
    given.emplace_back(word.substr(2, equals - 2), equals == std::string::npos ? "" : word.substr(equals + 1));
  }
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 5}}) {
    sim::HazardChecker checker;
    RunContext c;
    c.params = Params(kernel.name, kernel.parameters, given);
    c.options.driver = driver;
    c.options.seed = static_cast<uint64_t>(seed);
    c.options.listeners = {checker.listener()};
    const KernelReport r = kernel.run(c);
    EXPECT_TRUE(r.run.ok()) << r.run.fault->to_string();
    // fused-rht is TransformerEngine's protocol, which has no tcgen05.fence::after_thread_sync.
    expect_silence(checker, GetParam(), kernel.name == "fused-rht" ? std::set<std::string>{"H7202"} : std::set<std::string>{});
  }
}
INSTANTIATE_TEST_SUITE_P(Tree, Kernels,
                         testing::Values("tma-copy --rows=200 --columns=132", "tma-copy --rows=256 --columns=256 --swizzle=none", "fused-rht --m=256 --n=256",
                                         "fused-rht --m=512 --n=264 --rounding=stochastic", "gemm-bf16 --m=200 --n=136 --k=192",
                                         "gemm-bf16 --m=512 --n=256 --k=256 --cta-group=2 --ctas=2", "gemm-bf16 --m=256 --n=512 --k=192 --cluster-n=2 --ctas=2",
                                         "gemm-bf16 --m=256 --n=256 --k=192 --a-major=mn --b-major=mn", "gemm-blockscaled --m=256 --n=256 --k=768 --ctas=1",
                                         "gemm-blockscaled --m=512 --n=256 --k=512 --cta-group=2 --beta=1",
                                         "gemm-blockscaled --m=256 --n=256 --k=512 --format=mxf8-e4m3 --cluster-n=2", "gemm-fp8 --m=256 --n=256 --k=256 --bn=64"));

}  // namespace
}  // namespace drywell::kernels
