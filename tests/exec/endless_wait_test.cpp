// Warps that ask an mbarrier or shared memory for ever without sleeping, as libcu++'s waits do, are a deadlock with a name; waits that end by a
// clock or a count are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include <drywell/core/code.h>
#include <drywell/sim/check.h>
#include <drywell/sim/device.h>

namespace drywell::test {
namespace {

using testing::HasSubstr;

constexpr sim::DriverKind kDrivers[] = {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled};

// 64 threads wait for 65 arrivals; a thread leaves `wait` with %p1 true if the phase is complete.
std::string kernel(const std::string& wait) {
  return R"(
.version 8.6
.target sm_100a
.address_size 64
.global .align 4 .u32 result = 3;
.visible .entry k()
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  .reg .pred %p<9>;
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 flag;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra READY;
  mbarrier.init.shared::cta.b64 [bar], 65;
  st.volatile.shared.u32 [flag], 0;
READY:
  bar.sync 0;
  mbarrier.arrive.shared::cta.b64 %rd1, [bar];
  mov.u32 %r2, 0;
  mov.u64 %rd2, %globaltimer;
)" + wait +
         R"(
LEAVE:
  selp.u32 %r3, 1, 0, %p1;
  @!%p2 st.global.u32 [result], %r3;
  ret;
}
)";
}

sim::RunResult run(sim::DriverKind driver, const std::string& wait, bool check) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(kernel(wait));
  sim::HazardChecker checker;
  sim::RunOptions options{.driver = driver, .max_instructions = 20'000'000};
  if (check) options.listeners.push_back(checker.listener());
  return device.launch(m, "k", {.grid = {1}, .block = {64}}, {}, options);
}

std::string deadlock(sim::DriverKind driver, const std::string& wait, bool check) {
  const sim::RunResult r = run(driver, wait, check);
  return !r.fault.has_value() ? "no fault" : r.fault->code == Code::F3601 ? r.fault->message
                                                                          : "another fault: " + r.fault->message;
}

// libcu++: sixteen attempts, then longer and longer naps. The nap lies behind the function's other code.
constexpr const char* kBackoff = R"(
AGAIN:
  mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd1;
  @%p1 bra LEAVE;
  setp.gt.u32 %p3, %r2, 15;
  @%p3 bra LATER;
  add.u32 %r2, %r2, 1;
  bra AGAIN;
LATER:
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd3, %rd3, %rd2;
  setp.lt.u64 %p4, %rd3, 40000;
  @!%p4 bra NAP;
  bra AGAIN;
NAP:
  cvt.u32.u64 %r4, %rd3;
  nanosleep.u32 %r4;
  bra AGAIN;
)";

TEST(EndlessWait, TryWaitWithAClockIsADeadlockWithItsBarrier) {
  for (const auto driver : kDrivers) {
    EXPECT_THAT(deadlock(driver, kBackoff, false), HasSubstr("1 of 65 arrivals missing")) << sim::driver_name(driver);
    EXPECT_THAT(deadlock(driver, kBackoff, true), HasSubstr("the cause: phase 0 of the mbarrier at ")) << sim::driver_name(driver);
  }
}

TEST(EndlessWait, TestWaitIsADeadlockWithItsBarrier) {
  const std::string wait = "AGAIN: mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;\n  @!%p1 bra AGAIN;\n";
  for (const auto driver : kDrivers) {
    EXPECT_THAT(deadlock(driver, wait, false), HasSubstr("1 of 65 arrivals missing")) << sim::driver_name(driver);
    EXPECT_THAT(deadlock(driver, wait, true), HasSubstr("the cause: phase 0 of the mbarrier at ")) << sim::driver_name(driver);
  }
}

TEST(EndlessWait, AFlagInSharedMemoryIsADeadlockWithItsPlace) {
  const std::string wait = "AGAIN: ld.volatile.shared.u32 %r3, [flag];\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra LEAVE;\n  nanosleep.u32 20;\n  bra AGAIN;\n";
  for (const auto driver : kDrivers) {
    for (const bool check : {false, true}) EXPECT_THAT(deadlock(driver, wait, check), HasSubstr("poll by 'ld.volatile.shared.u32 %r3, [flag];'")) << sim::driver_name(driver);
  }
}

// Right programs that give up: none is called a deadlock.
TEST(EndlessWait, WaitsThatEndByAClockOrACountAreRight) {
  const std::string waits[] = {
      // A clock decides at the end of the loop.
      "AGAIN: mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;\n  @%p1 bra LEAVE;\n  mov.u64 %rd3, %globaltimer;\n  sub.u64 %rd3, %rd3, %rd2;\n  setp.lt.u64 %p3, %rd3, 300000;\n  @%p3 bra AGAIN;\n",
      // A count does.
      "AGAIN: mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;\n  @%p1 bra LEAVE;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p3, %r2, 30000;\n  @%p3 bra AGAIN;\n",
      // A count decides what a register has that the way out depends on.
      "  mov.u32 %r5, 0;\nAGAIN: mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;\n  @%p1 bra LEAVE;\n  setp.ne.u32 %p4, %r5, 0;\n  @%p4 bra LEAVE;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p3, %r2, 30000;\n  "
      "@%p3 bra AGAIN;\n  mov.u32 %r5, 1;\n  bra AGAIN;\n",
      // Another warp's count, in shared memory.
      "  setp.ge.u32 %p5, %r1, 32;\n  @%p5 bra COUNT;\nAGAIN: ld.volatile.shared.u32 %r3, [flag];\n  setp.gt.u32 %p1, %r3, 20000;\n  @%p1 bra LEAVE;\n  bra AGAIN;\nCOUNT:\n  add.u32 %r2, %r2, 1;\n  st.volatile.shared.u32 [flag], "
      "%r2;\n  setp.lt.u32 %p3, %r2, 30000;\n  @%p3 bra COUNT;\n",
  };
  for (const auto driver : kDrivers) {
    for (const std::string& wait : waits) EXPECT_EQ(deadlock(driver, wait, false), "no fault") << sim::driver_name(driver) << wait;
  }
}

// The rest of the barrier's arrivals come late.
TEST(EndlessWait, AWaitForAWarpThatComputesIsRight) {
  const std::string wait = R"(
  @%p2 bra AGAIN;
WORK:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, 300000;
  @%p3 bra WORK;
  mbarrier.arrive.shared::cta.b64 %rd4, [bar];
AGAIN:
  mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;
  @!%p1 bra AGAIN;
)";
  for (const auto driver : kDrivers) EXPECT_EQ(deadlock(driver, wait, false), "no fault") << sim::driver_name(driver);
}

// A warp that comes past a barrier again and again is at none.
TEST(EndlessWait, AWaitForAWarpThatMeetsInALoopIsRight) {
  std::string wait = R"(
  setp.ge.u32 %p4, %r1, 32;
  @%p4 bra AGAIN;
WORK:
  bar.warp.sync -1;
)";
  for (int i = 0; i < 12; ++i) wait += "  add.u32 %r4, %r4, 1;\n";
  wait += R"(
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, 200000;
  @%p3 bra WORK;
  @!%p2 mbarrier.arrive.shared::cta.b64 %rd4, [bar];
AGAIN:
  mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;
  @!%p1 bra AGAIN;
)";
  for (const auto driver : kDrivers) EXPECT_EQ(deadlock(driver, wait, false), "no fault") << sim::driver_name(driver);
}

// One thread in each of four CTAs; %rd1 is a word of global memory, 0 at first, %r1 the CTA's number.
std::string ctas(const std::string& body) {
  return R"(
.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 words)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  .reg .pred %p<9>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %ctaid.x;
)" + body +
         "\nLEAVE:\n  ret;\n}\n";
}

sim::RunResult run_ctas(sim::DriverKind driver, const std::string& body, uint64_t instructions = 20'000'000, void* host = nullptr) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(ctas(body));
  const GmemAddr words = host == nullptr ? device.allocate(64, "words") : device.map_host(host, 64);
  if (host == nullptr) device.fill(words, 0, 64);
  return device.launch(m, "k", {.grid = {4}, .block = {1}}, sim::Args().add(words), {.driver = driver, .max_instructions = instructions});
}

const std::string kPoll = "AGAIN: ld.acquire.gpu.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p1, %r3, 4;\n  @%p1 bra AGAIN;\n";
const std::string kTake = "AGAIN: atom.global.cas.b32 %r3, [%rd1], 0, 1;\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra AGAIN;\n";

TEST(EndlessWait, OfCtasForEachOtherIsADeadlockWithItsPlaces) {
  const std::string counts = "setp.eq.u32 %p2, %r1, 2;\n  @!%p2 red.release.gpu.global.add.u32 [%rd1], 1;\n";
  for (const auto driver : kDrivers) {
    for (const auto& [body, what] : {std::pair(counts + kPoll, "(<ptx>:14): global memory at 0x7f0000000000 (words) has 3"), std::pair(kTake, "CTA (1,0,0) warp 0 lanes 0x00000001 and 2 more warps poll by 'atom.global.cas")}) {
      const sim::RunResult r = run_ctas(driver, body);
      ASSERT_TRUE(r.fault.has_value()) << sim::driver_name(driver) << body;
      EXPECT_EQ(r.fault->code, Code::F3601) << r.fault->to_string();
      EXPECT_THAT(r.fault->message, HasSubstr(what)) << sim::driver_name(driver);
    }
  }
}

// Words that others change at last, or that go round and come back, and loops that end by a count.
TEST(EndlessWait, OfCtasThatGoOnIsNone) {
  const std::string bodies[] = {
      "red.release.gpu.global.add.u32 [%rd1], 1;\n" + kPoll,
      kTake + "  membar.gl;\n  atom.global.exch.b32 %r4, [%rd1], 0;\n",
      // The turn goes round 3,000 times.
      "  mov.u32 %r2, 0;\n  add.u32 %r5, %r1, 1;\n  and.b32 %r5, %r5, 3;\nAGAIN: ld.acquire.gpu.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p1, %r3, %r1;\n  @%p1 bra AGAIN;\n  st.release.gpu.global.u32 [%rd1], %r5;\n"
      "  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 3000;\n  @%p2 bra AGAIN;\n",
      // Three wait while one counts for long, and then raises what they wait for.
      "  mov.u32 %r2, 0;\n  setp.ne.u32 %p3, %r1, 3;\n  @%p3 bra AGAIN;\nWORK:\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 1000000;\n  @%p2 bra WORK;\n  st.release.gpu.global.u32 [%rd1], 4;\n" + kPoll,
      "  mov.u32 %r2, 0;\nAGAIN: ld.acquire.gpu.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra LEAVE;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 100000;\n  @%p2 bra AGAIN;\n",
  };
  for (const auto driver : kDrivers) {
    for (const std::string& body : bodies) {
      const sim::RunResult r = run_ctas(driver, body);
      EXPECT_TRUE(r.ok()) << sim::driver_name(driver) << body << (r.fault ? r.fault->to_string() : "");
    }
  }
}

// The host may write there: no verdict.
TEST(EndlessWait, OfCtasForTheHostEndsByABound) {
  alignas(64) std::array<uint32_t, 16> words{};
  const sim::RunResult r = run_ctas(sim::DriverKind::eager, kPoll, 2'000'000, words.data());
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_EQ(r.fault->code, Code::F3602);
}

// Under the timed driver, too, if the way out depends on no atomic.
TEST(EndlessWait, IsADeadlockUnderTheTimedDriver) {
  const std::string counts = "setp.eq.u32 %p2, %r1, 2;\n  @!%p2 red.release.gpu.global.add.u32 [%rd1], 1;\n";
  const sim::RunResult r = run_ctas(sim::DriverKind::timed, counts + kPoll);
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_EQ(r.fault->code, Code::F3601);
  EXPECT_THAT(r.fault->message, HasSubstr("CTA (0,0,0) warp 0 lanes 0x00000001 and 3 more warps poll by 'ld.acquire.gpu.global.u32 %r3, [%rd1];'"));
  EXPECT_TRUE(run_ctas(sim::DriverKind::timed, "red.release.gpu.global.add.u32 [%rd1], 1;\n" + kPoll).ok());
  for (const bool check : {false, true}) {
    EXPECT_THAT(deadlock(sim::DriverKind::timed, "AGAIN: mbarrier.test_wait.shared::cta.b64 %p1, [bar], %rd1;\n  @!%p1 bra AGAIN;\n", check), HasSubstr("1 of 65 arrivals missing"));
    EXPECT_THAT(deadlock(sim::DriverKind::timed, kBackoff, check), HasSubstr("1 of 65 arrivals missing"));
  }
}

// Some work for long, and one waits.
TEST(EndlessWait, ForWorkIsNoneUnderTheTimedDriver) {
  const std::string work = "  mov.u32 %r2, 0;\n  setp.ne.u32 %p3, %r1, 3;\n  @%p3 bra AGAIN;\nWORK:\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 300000;\n  @%p2 bra WORK;\n  st.release.gpu.global.u32 [%rd1], 4;\n";
  const std::string sleep = "  setp.ne.u32 %p3, %r1, 3;\n  @%p3 bra AGAIN;\n  nanosleep.u32 900000;\n  nanosleep.u32 900000;\n  st.release.gpu.global.u32 [%rd1], 4;\n";
  for (const std::string& body : {work, sleep}) {
    const sim::RunResult r = run_ctas(sim::DriverKind::timed, body + kPoll, 0);
    EXPECT_TRUE(r.ok()) << body << (r.fault ? r.fault->to_string() : "");
  }
}

// The bound of time or cycles ends the launch: it says for what.
TEST(EndlessWait, ABoundNamesTheBarrier) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(kernel(kBackoff));
  const sim::RunResult r = device.launch(m, "k", {.grid = {1}, .block = {64}}, {}, {.driver = sim::DriverKind::timed, .max_cycles = 200'000});
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_EQ(r.fault->code, Code::F3604);
  EXPECT_THAT(r.fault->message, HasSubstr("poll by 'mbarrier.try_wait.shared::cta.b64"));
  EXPECT_THAT(r.fault->message, HasSubstr("1 of 65 arrivals missing"));
}

}  // namespace
}  // namespace drywell::test
