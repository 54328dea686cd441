// Schedules that part the lanes of a converged warp (driver "parted:SEED"): what counts on lanes in step differs, what
// synchronises them does not.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "drywell/sim/driver_words.h"

namespace drywell::sim {
namespace {

/// A kernel of one warp: %r3 and %r4 are the addresses of the lane's word in shared memory and of its neighbour's. It stores %r6.
std::string with_neighbours(const std::string& body) {
  return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 words[128];
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, words;
  shl.b32 %r2, %r0, 2;
  add.u32 %r3, %r1, %r2;
  add.u32 %r4, %r2, 4;
  and.b32 %r4, %r4, 127;
  add.u32 %r4, %r1, %r4;
)" + body +
         R"(
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r6;
  ret;
}
)";
}

/// Each lane stores its number and reads its neighbour's, behind `between`.
std::string exchange(const std::string& between) {
  return with_neighbours("st.volatile.shared.u32 [%r3], 1000;\nbar.sync 0;\nst.volatile.shared.u32 [%r3], %r0;\n" + between + "\nld.volatile.shared.u32 %r6, [%r4];\n");
}

std::vector<uint32_t> run(const std::string& ptx, const std::string& driver) {
  Device device({.arch = "sm_90a"});
  const GmemAddr out = device.allocate(128, "out");
  RunOptions o;
  parse_driver(driver, o);
  const RunResult r = device.launch(device.load_ptx(ptx), "k", {.grid = {1}, .block = {32}}, Args().add(out), o);
  EXPECT_TRUE(r.ok()) << driver << ": " << r.fault->to_string();
  std::vector<uint32_t> words(32);
  device.read(words.data(), out, 128);
  return words;
}

// The upper lanes come to the first barrier from behind it, where the lower lanes wait: one group goes on. At the second barrier the upper lanes come
// first; the lower ones store behind their branch.
constexpr const char* kTwice = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 words[128];
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, words;
  shl.b32 %r2, %r0, 2;
  add.u32 %r3, %r1, %r2;
  setp.ge.u32 %p0, %r0, 16;
  @%p0 bra AWAY;
FIRST:
  bar.warp.sync -1;
  @!%p0 bra SLOW;
  st.volatile.shared.u32 [%r3], %r0;
SECOND:
  bar.warp.sync -1;
  add.u32 %r4, %r2, 4;
  and.b32 %r4, %r4, 127;
  add.u32 %r4, %r1, %r4;
  ld.volatile.shared.u32 %r5, [%r4];
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r5;
  ret;
AWAY:
  mov.u32 %r6, 1;
  bra FIRST;
SLOW:
  st.volatile.shared.u32 [%r3], %r0;
  bra SECOND;
}
)";

/// The different results of 30 schedules.
std::set<std::vector<uint32_t>> results(const std::string& ptx, const std::string& driver) {
  std::set<std::vector<uint32_t>> all;
  for (int seed = 1; seed <= 30; ++seed) all.insert(run(ptx, driver + ":" + std::to_string(seed)));
  return all;
}

const std::vector<uint32_t> kNeighbours = [] {
  std::vector<uint32_t> words;
  for (uint32_t lane = 0; lane < 32; ++lane) words.push_back((lane + 1) % 32);
  return words;
}();

TEST(PartedLanes, WhatCountsOnLanesInStepDiffers) {
  const std::string ptx = exchange("");
  EXPECT_EQ(results(ptx, "shuffled"), std::set{kNeighbours}) << "lanes run together";
  EXPECT_GT(results(ptx, "parted").size(), 1u);
}

TEST(PartedLanes, AnArrivalAtAWarpBarrierCountsOnce) {
  for (const char* driver : {"eager", "lazy", "timed"}) EXPECT_EQ(run(kTwice, driver), kNeighbours) << driver;
  EXPECT_EQ(results(kTwice, "parted"), std::set{kNeighbours});
}

TEST(PartedLanes, WhatSynchronisesLanesIsTheSame) {
  for (const char* between : {"bar.warp.sync -1;", "bar.sync 0;", "vote.sync.any.pred %p0, %p0, -1; bar.warp.sync -1;", "barrier.sync 1, 32;"}) {
    EXPECT_EQ(results(exchange(between), "parted"), std::set{kNeighbours}) << between;
  }
}

/// Six rounds of a slot: all lanes of warp 0 wait until it is empty, one announces it, behind `between`; warp 1 empties it. As in
/// NVIDIA/cutlass#3654.
std::string slot_of_a_warp(const std::string& between) {
  return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k()
{
  .shared .align 8 .b64 full;
  .shared .align 8 .b64 empty;
  .reg .b32 %r<4>;
  .reg .pred %p<4>;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared::cta.b64 [full], 1;
  @%p0 mbarrier.init.shared::cta.b64 [empty], 32;
  bar.sync 0;
  mov.u32 %r1, 0;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra CONSUMER;
PRODUCER:
  and.b32 %r2, %r1, 1;
  xor.b32 %r2, %r2, 1;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r2;
  @!%p2 bra EMPTY;
)" + between +
         R"(
  @%p0 mbarrier.arrive.shared::cta.b64 _, [full];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 6;
  @%p3 bra PRODUCER;
  ret;
CONSUMER:
  and.b32 %r2, %r1, 1;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r2;
  @!%p2 bra FULL;
  mbarrier.arrive.shared::cta.b64 _, [empty];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 6;
  @%p3 bra CONSUMER;
  ret;
}
)";
}

size_t hangs(const std::string& ptx, const std::string& driver) {
  size_t count = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    Device device({.arch = "sm_90a"});
    RunOptions o;
    parse_driver(driver + ":" + std::to_string(seed), o);
    count += device.launch(device.load_ptx(ptx), "k", {.grid = {1}, .block = {64}}, Args(), o).ok() ? 0 : 1;
  }
  return count;
}

// A lane that sleeps in its wait for two phases finds the parity that it waits for only in a phase that never ends.
TEST(PartedLanes, ALaneMaySleepForPhases) {
  EXPECT_EQ(hangs(slot_of_a_warp(""), "shuffled"), 0u) << "lanes run together";
  EXPECT_GT(hangs(slot_of_a_warp(""), "parted"), 0u);
  EXPECT_EQ(hangs(slot_of_a_warp("bar.warp.sync -1;"), "parted"), 0u);
}

/// Twelve times: each lane stores a word and reads its neighbour's, with `barrier` behind either. It stores the sum of what it has read.
std::string exchange_in_a_loop(const std::string& barrier) {
  return with_neighbours(R"(
  mul.lo.u32 %r5, %r0, 100;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
ROUND:
  add.u32 %r8, %r5, %r7;
  st.volatile.shared.u32 [%r3], %r8;
)" + barrier + R"(
  ld.volatile.shared.u32 %r8, [%r4];
  add.u32 %r6, %r6, %r8;
)" + barrier + R"(
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p0, %r7, 12;
  @%p0 bra ROUND;
)");
}

/// Forty times `barrier` with nothing in between, which is where lanes of two instances meet at one instruction.
std::string barrier_alone_in_a_loop(const std::string& barrier) {
  return with_neighbours("mov.u32 %r6, 0;\nROUND:\n" + barrier + "\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p0, %r6, 40;\n@%p0 bra ROUND;\n");
}

// Some lanes are an instance of the barrier ahead of others, and wait at the same instruction.
TEST(PartedLanes, BarriersInALoopKeepTheirInstancesApart) {
  std::vector<uint32_t> sums;
  for (uint32_t lane = 0; lane < 32; ++lane) sums.push_back((lane + 1) % 32 * 1200 + 66);
  for (const char* barrier : {"bar.warp.sync -1;", "bar.sync 0;", "barrier.sync 1, 32;", "barrier.cluster.arrive; barrier.cluster.wait;",
                              "barrier.cluster.arrive.release; nanosleep.u32 20; barrier.cluster.wait.acquire;"}) {
    EXPECT_EQ(results(exchange_in_a_loop(barrier), "parted"), std::set{sums}) << barrier;
    EXPECT_EQ(results(barrier_alone_in_a_loop(barrier), "parted"), std::set{std::vector<uint32_t>(32, 40)}) << barrier;
  }
}

// Each lane adds the values of all lanes; and lanes that wait for a lock of another lane make progress.
constexpr const char* kShuffles = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .u32 lock;
  .shared .align 4 .u32 sum;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<3>;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 st.shared.u32 [lock], 0;
  @%p0 st.shared.u32 [sum], 0;
  bar.sync 0;
  mov.u32 %r1, %r0;
  shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
  add.u32 %r1, %r1, %r2;
AGAIN:
  atom.acquire.cta.shared.cas.b32 %r3, [lock], 0, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra AGAIN;
  ld.shared.u32 %r4, [sum];
  add.u32 %r4, %r4, 1;
  st.shared.u32 [sum], %r4;
  atom.release.cta.shared.exch.b32 %r3, [lock], 0;
  bar.sync 0;
  ld.shared.u32 %r4, [sum];
  add.u32 %r1, %r1, %r4;
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

TEST(PartedLanes, ShufflesAndLocksOfOneWarpWork) { EXPECT_EQ(results(kShuffles, "parted"), std::set{std::vector<uint32_t>(32, 496 + 32)}); }

TEST(PartedLanes, TheDriverHasAName) {
  for (const char* name : {"parted:7", "shuffled:7", "parted:0"}) {
    RunOptions o;
    parse_driver(name, o);
    EXPECT_EQ(print_driver(o), name);
    EXPECT_EQ(o.driver, DriverKind::shuffled);
    EXPECT_EQ(parts_lanes(o), std::string_view(name).starts_with("parted"));
  }
  RunOptions even, odd;
  set_schedule(6, even);
  set_schedule(7, odd);
  EXPECT_EQ(print_driver(even), "parted:6");
  EXPECT_EQ(print_driver(odd), "shuffled:7");
}

}  // namespace
}  // namespace drywell::sim
