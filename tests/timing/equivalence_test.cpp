// Time must not change function: the same memory as the functional driver, and the same cycles for any number
// of threads and from run to run.
#include <gtest/gtest.h>

#include "kernels/registry.h"
#include "sim/timing/make_report.h"
#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

struct KernelCase {
  const char* name;
  const char* kernel;
  std::vector<std::pair<std::string, std::string>> params;
};

const KernelCase kCases[] = {
    {"TmaCopy", "tma-copy", {{"rows", "300"}, {"columns", "200"}}},
    {"FusedRht", "fused-rht", {{"m", "256"}, {"n", "640"}}},
    {"FusedRhtStochastic",
     "fused-rht",
     {{"m", "256"}, {"n", "256"}, {"rounding", "stochastic"}, {"seed", "7"}}},
};

kernels::KernelReport run(const KernelCase& c, DriverKind driver, unsigned threads) {
  const kernels::Kernel& k = kernels::find_kernel(c.kernel);
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, c.params);
  context.options.driver = driver;
  context.options.threads = threads;
  context.keep_outputs = true;
  context.verify = threads == 1;
  return k.run(context);
}

class TimedKernels : public testing::TestWithParam<KernelCase> {};

TEST_P(TimedKernels, LeaveTheMemoryTheFunctionalDriverLeaves) {
  const auto functional = run(GetParam(), DriverKind::eager, 1),
             timed = run(GetParam(), DriverKind::timed, 1);
  ASSERT_TRUE(timed.run.ok()) << timed.run.fault->to_string();
  EXPECT_TRUE(timed.verify.passed()) << timed.verify.first_mismatch;
  ASSERT_EQ(timed.outputs.size(), functional.outputs.size());
  for (size_t i = 0; i < timed.outputs.size(); ++i)
    EXPECT_EQ(timed.outputs[i].second.data, functional.outputs[i].second.data) << timed.outputs[i].first;
  EXPECT_GT(timed.run.cycles, 0u);
}

TEST_P(TimedKernels, TakeTheSameCyclesForAnyNumberOfThreads) {
  const auto one = run(GetParam(), DriverKind::timed, 1), again = run(GetParam(), DriverKind::timed, 1),
             two = run(GetParam(), DriverKind::timed, 2), many = run(GetParam(), DriverKind::timed, 7);
  for (const auto* r : {&again, &two, &many}) {
    EXPECT_EQ(r->run.cycles, one.run.cycles);
    EXPECT_EQ(r->run.warp_instructions, one.run.warp_instructions);
    EXPECT_EQ(to_text(*r->run.timing), to_text(*one.run.timing));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, TimedKernels, testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(TimingReport, LargeAmountsHaveAPrefix) {
  EXPECT_EQ(amount_of_work(19564, "warp instructions"), "19564 warp instructions");
  EXPECT_EQ(amount_of_work(6933238, "busy cycles"), "6.933 M busy cycles");
  EXPECT_EQ(amount_of_work(125924352, "B"), "125.9 MB");
  EXPECT_EQ(amount_of_work(2.5e9, "B"), "2.5 GB");
}

TEST(TimingReport, AccountsForEveryCycleOfEveryWarp) {
  const auto r = run(kCases[1], DriverKind::timed, 1);
  const TimingReport& t = *r.run.timing;
  ASSERT_NE(t.role("epilogue"), nullptr);
  EXPECT_EQ(t.role("epilogue")->warps, t.sms_used * 4u);
  // All warps of a CTA exist from its start to its end.
  const double per_warp = t.role("epilogue")->total() / static_cast<double>(t.role("epilogue")->warps);
  for (const RoleTime& role : t.roles)
    EXPECT_NEAR(role.total() / static_cast<double>(role.warps), per_warp, 1e-6 * per_warp) << role.name;
  EXPECT_FALSE(t.limits.empty());
  for (const UnitTime& u : t.units) {
    EXPECT_GE(u.utilisation, 0) << u.name;
    EXPECT_LE(u.utilisation, 1.001) << u.name;
  }
  // 256 x 640 bf16 in and the 16 x 16 matrix, read once each from device memory.
  EXPECT_NEAR(static_cast<double>(t.hbm_bytes_read), 256 * 640 * 2, 4096);
}

}  // namespace
}  // namespace drywell::sim
