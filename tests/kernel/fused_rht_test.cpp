#include "kernels/fused_rht/fused_rht.h"

#include <gtest/gtest.h>

#include "drywell/launch/generate.h"

namespace drywell::kernels {
namespace {

std::vector<uint16_t> make_input(const FusedRhtOptions& o) {
  GenerateOptions g;
  g.distribution = Distribution::heavy_tailed;
  g.seed = 7;
  return generate_bf16(o.m, o.n, g);
}

struct Case {
  const char* name;
  FusedRhtOptions options;
};

class FusedRhtValues : public testing::TestWithParam<Case> {};

TEST_P(FusedRhtValues, EqualTheReferenceUnderEveryPolicy) {
  const FusedRhtOptions& o = GetParam().options;
  const auto input = make_input(o);
  auto ro = reference_options(o, 0);
  ro.amax = reference::rht_amax(input, ro);
  const auto want = reference::rht_nvfp4(input, ro);
  struct Policy {
    sim::DriverKind kind;
    uint64_t seed;
  };
  for (const Policy p : {Policy{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}, {sim::DriverKind::shuffled, 3}}) {
    SimulatedDevice device({.sm_count = 3});
    sim::RunOptions run;
    run.driver = p.kind;
    run.seed = p.seed;
    const auto got = run_fused_rht(device, input, *ro.amax, o, run);
    ASSERT_TRUE(got.run.ok()) << got.run.fault->to_string();
    EXPECT_EQ(got.codes, want.codes) << sim::driver_name(p.kind);
    EXPECT_EQ(got.scales, want.scales) << sim::driver_name(p.kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedRhtValues,
                         testing::Values(Case{"Small", {.m = 128, .n = 128}}, Case{"Stochastic", {.m = 256, .n = 256, .stochastic = true, .seed = 1234567890123, .offset = 4}},
                                         Case{"TeOrder", {.m = 256, .n = 128, .te_scale_order = true}}, Case{"RaggedN", {.m = 192, .n = 200}},
                                         Case{"NoRoundTrip", {.m = 128, .n = 128, .bf16_round_trip = false, .approximate_reciprocal = true}},
                                         Case{"ManyTiles", {.m = 1024, .n = 384, .stochastic = true, .seed = 5, .k_tile_size = 256}}),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace drywell::kernels
