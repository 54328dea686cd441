// RunOptions::stop: another thread ends a launch that would not end (include/drywell/sim/run.h).
#include <gtest/gtest.h>

#include <atomic>

#include <drywell/core/code.h>
#include <drywell/sim/device.h>

namespace drywell::test {
namespace {

constexpr const char* kSpin = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry spin() { LOOP: bra LOOP; }
)";

TEST(Stop, EndsALaunchAsFaultF3603) {
  for (const auto driver :
       {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
    sim::Device device;
    const sim::LoadedModule m = device.load_ptx(kSpin);
    const std::atomic<bool> stop{true};
    sim::RunOptions options;
    options.driver = driver;
    options.stop = &stop;
    const sim::RunResult r = device.launch(m, "spin", {.grid = {300}, .block = {64}}, {}, options);
    ASSERT_TRUE(r.fault.has_value()) << sim::driver_name(driver);
    EXPECT_EQ(r.fault->code, Code::F3603);
    EXPECT_EQ(r.fault->where.kernel, "spin");
  }
}

// A warp that never ends has no entry in the account of ended warps.
TEST(Stop, TheLimitOfInstructionsCountsWarpsThatNeverEnd) {
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::timed}) {
    sim::Device device;
    const sim::LoadedModule m = device.load_ptx(kSpin);
    sim::RunOptions options;
    options.driver = driver;
    options.max_instructions = 1000;
    const sim::RunResult r = device.launch(m, "spin", {.grid = {1}, .block = {32}}, {}, options);
    ASSERT_TRUE(r.fault.has_value()) << sim::driver_name(driver);
    EXPECT_EQ(r.fault->code, Code::F3602);
  }
}

TEST(Stop, ALaunchThatNothingStopsRunsToItsEnd) {
  sim::Device device;
  const sim::LoadedModule m =
      device.load_ptx(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }");
  const std::atomic<bool> stop{false};
  sim::RunOptions options;
  options.stop = &stop;
  EXPECT_TRUE(device.launch(m, "k", {.grid = {300}, .block = {64}}, {}, options).ok());
}

}  // namespace
}  // namespace drywell::test
