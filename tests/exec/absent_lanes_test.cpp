// Shuffles that read lanes which do not execute them. The expected values are an H200's: 0, and the value of a lane that executes the
// shuffle under another member mask.
#include <gtest/gtest.h>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

/// What each thread has in %r9 after `body`, in which %r1 is its number and %r2 is that plus 1000; -1 where a thread stores nothing.
std::vector<int32_t> results(const std::string& body, uint32_t threads) {
  Device d({.arch = "sm_90a"});
  const LoadedModule m = d.load_ptx(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<20>;
  .reg .b64 %rd<9>;
  .reg .pred %p<9>;
  mov.u32 %r1, %tid.x;
  add.u32 %r2, %r1, 1000;
  ld.param.u64 %rd1, [to];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
)" + body + R"(
  st.global.u32 [%rd1], %r9;
END:
  ret;
}
)");
  std::vector<int32_t> out(32, -1);
  const GmemAddr to = d.allocate(128, "to");
  d.write(to, out.data(), 128);
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {threads}}, Args().add(to));
  EXPECT_TRUE(r.ok()) << body;
  d.read(out.data(), to, 128);
  return out;
}

std::vector<int32_t> expected(auto&& of, uint32_t threads = 32) {
  std::vector<int32_t> all(32, -1);
  for (int i = 0; i < static_cast<int>(threads); ++i) all[static_cast<size_t>(i)] = of(i);
  return all;
}

TEST(AbsentLanes, ThatNeverBeganGiveZero) {
  EXPECT_EQ(results("shfl.sync.bfly.b32 %r9, %r2, 16, 31, -1;", 20), expected([](int i) { return i >= 16 || i < 4 ? 1000 + (i ^ 16) : 0; }, 20));
  EXPECT_EQ(results("shfl.sync.idx.b32 %r9, %r2, 25, 31, -1;", 20), expected([](int) { return 0; }, 20));
  // Out of the segment: its own value.
  EXPECT_EQ(results("shfl.sync.down.b32 %r9, %r2, 16, 31, -1;", 20), expected([](int i) { return i >= 16 ? 1000 + i : i < 4 ? 1016 + i
                                                                                                                            : 0; }, 20));
}

TEST(AbsentLanes, ThatHaveEndedGiveZero) {
  EXPECT_EQ(results("setp.ge.u32 %p1, %r1, 20; @%p1 bra END; shfl.sync.bfly.b32 %r9, %r2, 16, 31, -1;", 32),
            expected([](int i) { return i >= 16 || i < 4 ? 1000 + (i ^ 16) : 0; }, 20));
}

TEST(AbsentLanes, ThatAreElsewhereGiveZero) {
  EXPECT_EQ(results("mov.b32 %r9, 7; setp.ge.u32 %p1, %r1, 16; @%p1 bra SKIP; shfl.sync.down.b32 %r9, %r2, 1, 31, 0xffff; SKIP: bar.warp.sync -1;", 32),
            expected([](int i) { return i >= 16 ? 7 : i == 15 ? 0
                                                              : 1001 + i; }));
}

TEST(AbsentLanes, WhoseGuardIsFalseGiveZero) {
  EXPECT_EQ(results("mov.b32 %r9, 5; setp.lt.u32 %p1, %r1, 21; @%p1 shfl.sync.bfly.b32 %r9, %r2, 1, 31, -1;", 32),
            expected([](int i) { return i > 20 ? 5 : i == 20 ? 0
                                                             : 1000 + (i ^ 1); }));
}

TEST(AbsentLanes, LanesOfOtherMasksGiveTheirValues) {
  EXPECT_EQ(results("setp.lt.u32 %p1, %r1, 16; selp.b32 %r3, 0xffff, 0xffff0000, %p1; shfl.sync.bfly.b32 %r9, %r2, 16, 31, %r3;", 32),
            expected([](int i) { return 1000 + (i ^ 16); }));
}

}  // namespace
}  // namespace drywell::sim
