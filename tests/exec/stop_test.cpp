// RunOptions::stop: another thread ends a launch that would not end (include/drywell/sim/run.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include <drywell/core/code.h>
#include <drywell/core/host_memory.h>
#include <drywell/sim/check.h>
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

/// Thread 0 of CTA 0 stores 7; each CTA's thread 0 waits for 1 there, and for 1 in shared memory that nothing sets.
constexpr char kPolls[] = R"(
.version 8.6
.target sm_100a
.address_size 64
.global .align 4 .u32 flag = 3;
.visible .entry polls(.param .u32 in_shared, .param .u32 writes)
{
  .reg .b32 %r<6>;
  .reg .pred %p<5>;
  .shared .align 4 .u32 s;
  ld.param.u32 %r1, [in_shared];
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p2, %r2, 0;
  mov.u32 %r3, 0;
  @!%p2 st.shared.u32 [s], %r3;
  ld.param.u32 %r1, [writes];
  setp.ne.and.u32 %p4, %r1, 0, !%p2;
  @%p4 st.release.gpu.global.u32 [flag], 7;
  @%p2 bra DONE;
  @%p1 bra SHARED;
GLOBAL:
  ld.acquire.gpu.global.u32 %r4, [flag];
  setp.ne.u32 %p3, %r4, 1;
  @%p3 bra GLOBAL;
SHARED:
  ld.volatile.shared.u32 %r4, [s];
  setp.ne.u32 %p3, %r4, 1;
  @%p3 bra SHARED;
DONE:
  bar.sync 0;
  ret;
}
)";

std::string what_is_polled(sim::DriverKind driver, bool check, uint32_t in_shared, uint32_t writes) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(kPolls);
  sim::HazardChecker checker;
  sim::RunOptions options{.driver = driver, .max_instructions = 5'000};
  if (check) options.listeners.push_back(checker.listener());
  const sim::RunResult r = device.launch(m, "polls", {.grid = {2}, .block = {64}}, sim::Args().add(in_shared).add(writes), options);
  return r.fault.has_value() && r.fault->code == Code::F3602 ? r.fault->message : "";
}

TEST(Stop, AKernelThatPollsSaysWhereWhatAndWhoWroteThere) {
  using testing::HasSubstr;
  using testing::Not;
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::timed}) {
    const std::string plain = what_is_polled(driver, false, 0, 1), nobody = what_is_polled(driver, true, 0, 0), global = what_is_polled(driver, true, 0, 1), shared = what_is_polled(driver, true, 1, 0);
    EXPECT_THAT(plain, HasSubstr("poll by 'ld.acquire.gpu.global.u32"));
    EXPECT_THAT(plain, HasSubstr("(flag) has 7"));
    EXPECT_THAT(plain, HasSubstr("--check says who wrote there last"));
    EXPECT_THAT(plain, HasSubstr("wait at 'bar.sync 0;'"));
    EXPECT_THAT(nobody, HasSubstr("(flag) has 3; nothing in this launch has written it"));
    EXPECT_THAT(global, HasSubstr("(flag) has 7; last written by CTA ("));
    EXPECT_THAT(global, HasSubstr("warp 0: '@%p4 st.release.gpu.global.u32 [flag], 7;' ("));
    EXPECT_THAT(global, Not(HasSubstr("--check")));
    EXPECT_THAT(shared, HasSubstr("poll by 'ld.volatile.shared.u32"));
    EXPECT_THAT(shared, HasSubstr("has 0; last written by CTA ("));
  }
}

constexpr sim::DriverKind kDrivers[] = {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed};

Code code_under(const sim::RunOptions& options) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(kSpin);
  const sim::RunResult r = device.launch(m, "spin", {.grid = {300}, .block = {64}}, {}, options);
  return r.fault.has_value() ? r.fault->code : Code::E1000;
}

TEST(Bounds, TheTimeIsUpUnderEveryDriver) {
  for (const auto driver : kDrivers) {
    for (const unsigned threads : {1u, 2u}) {
      sim::RunOptions options{.driver = driver, .threads = threads};
      options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
      EXPECT_EQ(code_under(options), Code::F3605) << sim::driver_name(driver);
    }
  }
}

TEST(Bounds, MemoryOfTheProcess) {
  for (const auto driver : kDrivers) {
    sim::RunOptions options{.driver = driver};
    options.max_memory = 1 << 20;  // less than any process holds
    EXPECT_EQ(code_under(options), Code::F3606) << sim::driver_name(driver);
  }
}

// The kernel writes page after page of a large buffer: what it holds grows while it runs.
TEST(Bounds, MemoryThatAKernelWrites) {
  sim::Device device;
  constexpr uint64_t kBytes = uint64_t{1} << 30;
  if (device.memory_free() < kBytes) GTEST_SKIP() << "the host has less than 1 GB";
  const sim::LoadedModule m = device.load_ptx(R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry fill(.param .u64 p)
{
 .reg .b64 %d<2>; .reg .pred %q;
 ld.param.u64 %d0, [p];
 add.u64 %d1, %d0, 1073741824;
L: st.global.u32 [%d0], 1;
 add.u64 %d0, %d0, 4096;
 setp.lt.u64 %q, %d0, %d1;
 @%q bra L;
 ret;
}
)");
  const GmemAddr buffer = device.allocate(kBytes);
  sim::RunOptions options{.threads = 1};
  options.max_memory = resident_bytes() + (uint64_t{64} << 20);
  const sim::RunResult r = device.launch(m, "fill", {.grid = {1}, .block = {1}}, sim::Args().add(buffer), options);
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_EQ(r.fault->code, Code::F3606);
  EXPECT_LT(resident_bytes(), options.max_memory + (uint64_t{512} << 20)) << "the launch ended soon";
}

TEST(Bounds, CyclesOfTheTimedDriver) {
  sim::RunOptions options{.driver = sim::DriverKind::timed};
  options.max_cycles = 5000;
  EXPECT_EQ(code_under(options), Code::F3604);
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }");
  options.max_cycles = 0;
  const sim::RunResult all = device.launch(m, "k", {.grid = {1}, .block = {32}}, {}, options);
  options.max_cycles = all.cycles;
  EXPECT_TRUE(device.launch(m, "k", {.grid = {1}, .block = {32}}, {}, options).ok()) << "a run takes as many cycles as it takes";
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
