// Cooperative kernels of several rounds whose CTAs access the same memory in each round: a barrier of the grid that every round lacks is found under
// every driver, although all CTAs do the same again later, and meet in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kCtas = 4, kThreads = 64, kRounds = 4;

/// What cooperative_groups::grid_group::sync() becomes (nvcc 13.0).
std::string barrier(const std::string& label) {
  return "barrier.sync 0;\n@%p1 bra " + label + "D;\natom.add.release.gpu.u32 %r6, [%rd5], %r5;\n" + label + "P:\nld.acquire.gpu.u32 %r7, [%rd5];\nxor.b32 %r7, %r7, %r6;\nsetp.gt.s32 %p2, %r7, -1;\n@%p2 bra " + label +
         "P;\n" + label + "D:\nbarrier.sync 0;\n";
}

/// By hand: `fence` of all threads, then one counts, and the last one changes the generation that the others poll.
std::string counted(const std::string& label, const std::string& fence) {
  return fence + "bar.sync 0;\n@%p1 bra " + label + "D;\nld.volatile.global.u32 %r6, [%rd3+1028];\natom.global.add.u32 %r7, [%rd3+1024], 1;\nsetp.ne.u32 %p2, %r7, 3;\n@%p2 bra " + label +
         "P;\nst.global.u32 [%rd3+1024], 0;\nmembar.gl;\nadd.u32 %r6, %r6, 1;\nst.volatile.global.u32 [%rd3+1028], %r6;\nbra " + label + "E;\n" + label +
         "P:\nld.volatile.global.u32 %r7, [%rd3+1028];\nsetp.eq.u32 %p2, %r7, %r6;\n@%p2 bra " + label + "P;\n" + label + "E:\nmembar.gl;\n" + label + "D:\nbar.sync 0;\n";
}

/// In each round: `first`, a barrier or nothing, `second`, a barrier or nothing. [%rd1] is the neighbour's place, [%rd2] the thread's own.
std::string rounds(const std::string& first, bool after_first, const std::string& second, bool after_second) {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 places)
{
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  .reg .pred %p<4>;
  mov.u32 %r1, %envreg2;
  cvt.u64.u32 %rd5, %r1;
  mov.u32 %r1, %envreg1;
  cvt.u64.u32 %rd6, %r1;
  shl.b64 %rd6, %rd6, 32;
  or.b64 %rd5, %rd5, %rd6;
  add.u64 %rd5, %rd5, 4;
  ld.param.u64 %rd3, [places];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  mad.lo.u32 %r3, %r2, 64, %r1;
  add.u32 %r4, %r3, 64;
  and.b32 %r4, %r4, 255;
  mad.wide.u32 %rd1, %r4, 4, %rd3;
  mad.wide.u32 %rd2, %r3, 4, %rd3;
  setp.eq.u32 %p3, %r2, 0;
  selp.b32 %r5, 0x7FFFFFFD, 1, %p3;
  mov.u32 %r8, 0;
  mov.u32 %r9, 0;
LOOP:
)" + first +
         (after_first ? barrier("A") : "") +
         second + (after_second ? barrier("B") : "") + R"(
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p2, %r8, )" +
         std::to_string(kRounds) + R"(;
  @%p2 bra LOOP;
  ret;
}
)";
}

constexpr char kReadNeighbour[] = "ld.global.u32 %r9, [%rd1];\n", kWriteOwn[] = "add.u32 %r9, %r9, 1;\nst.global.u32 [%rd2], %r9;\n", kWriteNeighbour[] = "add.u32 %r9, %r8, %r3;\nst.global.u32 [%rd1], %r9;\n";

/// The codes of all errors, each once, under one driver.
std::string errors(const std::string& ptx, DriverKind driver, uint64_t seed) {
  Device d;
  const LoadedModule m = d.load_ptx(ptx);
  const GmemAddr places = d.allocate(4 * kCtas * kThreads + 8, "places");
  d.fill(places, 0, 4 * kCtas * kThreads + 8);
  HazardChecker checker;
  RunOptions o;
  o.driver = driver;
  o.seed = seed;
  o.cooperative = true;
  o.listeners.push_back(checker.listener());
  const RunResult r = d.launch(m, "k", {.grid = {kCtas}, .block = {kThreads}}, Args().add(places), o);
  EXPECT_TRUE(r.ok()) << (r.fault ? r.fault->to_string() : "");
  std::string codes;
  for (const Finding& f : checker.findings())
    if (f.level == HazardLevel::error && codes.find(f.code) == std::string::npos) codes += f.code;
  return codes;
}

void expect_everywhere(const std::string& ptx, const std::string& codes) {
  EXPECT_EQ(errors(ptx, DriverKind::eager, 0), codes) << "eager";
  EXPECT_EQ(errors(ptx, DriverKind::lazy, 0), codes) << "lazy";
  EXPECT_EQ(errors(ptx, DriverKind::timed, 0), codes) << "timed";
  for (uint64_t seed = 1; seed < 4; ++seed) EXPECT_EQ(errors(ptx, DriverKind::shuffled, seed), codes) << "shuffled:" << seed;
}

TEST(GridRounds, WithBothBarriersAreRight) {
  expect_everywhere(rounds(kReadNeighbour, true, kWriteOwn, true), "");
  expect_everywhere(rounds(kWriteOwn, true, kReadNeighbour, true), "");
}

// The store comes while the neighbour may still read.
TEST(GridRounds, WithoutABarrierBehindTheReads) { expect_everywhere(rounds(kReadNeighbour, false, kWriteOwn, true), "H7402"); }

// The next round's read, or its store, comes before the neighbour is ready: what each does last is in order.
TEST(GridRounds, WithoutABarrierAtTheEnd) {
  expect_everywhere(rounds(kReadNeighbour, true, kWriteOwn, false), "H7402");
  expect_everywhere(rounds(kWriteOwn, true, kReadNeighbour, false), "H7402");
}

// Two CTAs store different values in one place, in order within a round, but not with the next one's.
TEST(GridRounds, OfStoresWithoutABarrierAtTheEnd) { expect_everywhere(rounds(kWriteOwn, true, kWriteNeighbour, false), "H7402"); }
// The one that counts has no fence of its own behind the barrier of its CTA: a warning (H7406), on the way through the generation, too.
TEST(GridRounds, WithBarriersByHandAreRight) {
  for (const bool reads_first : {true, false}) {
    const std::string one = reads_first ? kReadNeighbour : kWriteOwn, other = reads_first ? kWriteOwn : kReadNeighbour;
    expect_everywhere(rounds(one + counted("X", "membar.gl;\n"), false, other + counted("Y", "membar.gl;\n"), false), "");
    expect_everywhere(rounds(one + counted("X", ""), false, other + counted("Y", ""), false), "H7402");
  }
}
TEST(GridRounds, OfStoresWithBothBarriers) { expect_everywhere(rounds(kWriteOwn, true, kWriteNeighbour, true), ""); }

}  // namespace
}  // namespace drywell::sim
