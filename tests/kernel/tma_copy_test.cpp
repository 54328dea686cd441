// The TMA demo kernel: any shape, every swizzle, every functional driver, bit for bit.
#include <gtest/gtest.h>

#include "kernels/registry.h"

namespace drywell::kernels {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

KernelReport run_tma_copy(const Given& given, sim::DriverKind driver = sim::DriverKind::eager,
                          uint64_t seed = 0) {
  const Kernel& k = find_kernel("tma-copy");
  RunContext c;
  c.params = Params(k.name, k.parameters, given);
  c.options.driver = driver;
  c.options.seed = seed;
  c.verify = true;
  c.keep_outputs = true;
  return k.run(c);
}

class TmaCopySwizzle : public testing::TestWithParam<const char*> {};

TEST_P(TmaCopySwizzle, ScalesEveryElementOfUnevenShapes) {
  for (const auto& [rows, columns] : {std::pair{64, 32}, {65, 36}, {1, 4}, {200, 100}}) {
    const KernelReport r = run_tma_copy({{"rows", std::to_string(rows)},
                                         {"columns", std::to_string(columns)},
                                         {"scale", "-2.5"},
                                         {"swizzle", GetParam()}});
    ASSERT_TRUE(r.run.ok()) << r.run.fault->to_string();
    EXPECT_TRUE(r.verify.passed()) << r.verify.first_mismatch;
    EXPECT_EQ(r.verify.compared, static_cast<uint64_t>(rows * columns));
  }
}
INSTANTIATE_TEST_SUITE_P(Modes, TmaCopySwizzle, testing::Values("none", "32", "64", "128"),
                         [](const auto& i) { return "Span" + std::string(i.param); });

TEST(TmaCopy, GivesTheSameMemoryUnderEveryPolicy) {
  const Given shape = {{"rows", "300"}, {"columns", "200"}, {"distribution", "heavy-tailed"}};
  const auto eager = run_tma_copy(shape).outputs.at(0).second.data;
  EXPECT_EQ(run_tma_copy(shape, sim::DriverKind::lazy).outputs.at(0).second.data, eager);
  for (uint64_t seed : {1, 2, 3})
    EXPECT_EQ(run_tma_copy(shape, sim::DriverKind::shuffled, seed).outputs.at(0).second.data, eager);
}

TEST(TmaCopy, RefusesShapesATensorMapCannotDescribe) {
  try {
    run_tma_copy({{"columns", "30"}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E2201);
  }
}

}  // namespace
}  // namespace drywell::kernels
