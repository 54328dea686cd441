// drywell step: events other than instructions (hazards, writes, cycles, stages of a pipeline), and names of shared variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Warp 0 writes tile, warp 1 reads it without a barrier; thread 0 stores 7 to flag twice.
constexpr std::string_view kRace = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k() {
  .shared .align 16 .b8 tile[128];
  .shared .align 4 .b8 flag[4];
  .reg .b32 %t, %s, %v, %f;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  shl.b32 %s, %t, 2;
  and.b32 %s, %s, 127;
  mov.u32 %v, tile;
  add.u32 %s, %s, %v;
  mov.u32 %f, flag;
  setp.ge.u32 %p, %t, 32;
  @%p bra reads;
  st.shared.u32 [%s], %t;
  setp.ne.u32 %p, %t, 0;
  @%p bra done;
  mov.u32 %v, 7;
  st.shared.u32 [%f], %v;
  st.shared.u32 [%f], %v;
  bra done;
reads:
  ld.shared.u32 %v, [%s];
done:
  ret;
}
)";

class Events : public testing::Test {
 protected:
  void SetUp() override {
    if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
    write_file_atomically(folder_.file("k.ptx"), kRace);
  }
  std::string run(std::vector<std::string> words, const std::string& script) {
    write_file_atomically(folder_.file("script"), std::string_view(script));
    words.insert(words.begin(), "step");
    words.insert(words.end(), {"--script", folder_.file("script")});
    const Finished f = run_process(binary_path(), words);
    EXPECT_EQ(f.err, "");
    return f.out;
  }
  std::string race(const std::string& script) { return run({folder_.file("k.ptx"), "--block=64"}, script); }
  std::string fused(const std::string& script, const std::string& driver) { return run({"fused-rht", "--m=256", "--n=256", "--driver=" + driver}, script); }
  TemporaryDirectory folder_;
};

size_t count(std::string_view text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST_F(Events, StopsAtAHazardForwardAndBack) {
  const std::string out = race("break hazard\ncontinue\nwhere\ncontinue\nreverse-continue\nreverse-continue\ninfo hazards\n");
  EXPECT_THAT(out, HasSubstr("error H7401"));
  EXPECT_THAT(out, HasSubstr("CTA (0,0,0) warp 1 did ld.shared.u32 %v, [%s];"));
  EXPECT_EQ(count(out, "break 1: hazard"), 2u) << out;  // forward, and back from the end
  EXPECT_THAT(out, HasSubstr("back at the beginning"));
  EXPECT_THAT(race("until hazard\ninfo break\n"), HasSubstr("no breakpoints"));
}

TEST_F(Events, StopsAtWritesOfEqualValues) {
  const std::string out = race("break write smem flag\ncontinue\ncontinue\ncontinue\n");
  EXPECT_THAT(out, HasSubstr("0xffffffff -> 0x7; lane 0 stored 4 bytes"));
  EXPECT_THAT(out, HasSubstr("the same value again; lane 0 stored 4 bytes"));
  // Goes to the last write, not to the last change; before the first write there is no stop.
  const std::string back = race("break reads\ncontinue\nreverse-continue smem flag,4\nreverse-continue smem flag,4\nreverse-continue smem flag,4\n");
  EXPECT_EQ(count(back, "smem flag,4: the same value again"), 1u) << back;
  EXPECT_EQ(count(back, "smem flag,4: 0xffffffff -> 0x7"), 1u) << back;
  EXPECT_EQ(count(back, "smem flag,4: no step before this one wrote it"), 1u) << back;
}

TEST_F(Events, TakesConditionsWithAnyStop) {
  const std::string out = race("watch smem tile,128 if warp == 1\nbreak write smem flag if u32[smem flag] == 8\nbreak write smem tile+4 if u32[smem tile+4] == 1\ncontinue\ncontinue\n");
  EXPECT_EQ(count(out, "break 3: write smem tile+4 if"), 1u) << out;
  EXPECT_EQ(count(out, "watch 1:") + count(out, "break 2:"), 0u) << out;
  EXPECT_THAT(out, HasSubstr("the launch is over"));
}

TEST_F(Events, KnowsSharedVariablesByName) {
  const std::string out = race("info shared\nuntil done\nx smem tile+8,2 as u32\nprint flag\nprint u32[smem tile + 4 * 5]\nprint nosuch\nprint tille\n");
  EXPECT_THAT(out, ContainsRegex("0x400 +128 bytes  tile"));
  EXPECT_THAT(out, ContainsRegex("0x480 +4 bytes  flag"));
  EXPECT_THAT(out, HasSubstr("0x000408: 2 3\n"));
  EXPECT_THAT(out, HasSubstr("flag = 1152 = 0x480"));
  EXPECT_THAT(out, HasSubstr("u32[smem tile + 4 * 5] = 5\n"));
  EXPECT_THAT(out, HasSubstr("'nosuch' is no value: neither a register nor a shared variable"));
  EXPECT_THAT(out, HasSubstr("'tile'"));
}

TEST_F(Events, ShowsThePipelinesOfAKernel) {
  const std::string out = fused("until umma issue\ninfo pipelines\n", "eager");
  EXPECT_THAT(out, HasSubstr("pipeline of 4 stages, dma -> mma\n"));
  EXPECT_THAT(out, HasSubstr("pipeline of 4 stages, mma -> epilogue\n"));
  EXPECT_THAT(out, HasSubstr("filled by dma, TMA load at kernel.cpp:"));
  EXPECT_THAT(out, HasSubstr("empty: freed by mma, commit at kernel.cpp:"));
  EXPECT_THAT(out, ContainsRegex("stage 0   0x440 phase 1 +0x4a8 phase 0 +full\n"));
  EXPECT_THAT(out, ContainsRegex("stage 1   0x448 phase 0 +0x4b0 phase 0 +free\n"));
  EXPECT_THAT(race("step 2\ninfo pipelines\n"), HasSubstr("no mbarrier is arrived on"));
  // A pair of CTAs: the launch is run through and gone back in, and the barriers are those of now.
  const std::string pair = run({"gemm-blockscaled", "--m=256", "--n=128", "--k=512", "--cta-group=2"}, "until umma done\ninfo pipelines\n");
  EXPECT_THAT(pair, HasSubstr("pipeline of 2 stages, load -> mma\n"));
  EXPECT_THAT(pair, ContainsRegex("stage 0   0x400 phase 1 +0x430 phase 0 +full\n"));
  EXPECT_THAT(pair, HasSubstr("pipeline of 1 stage, mma -> epilogue\n"));
}

TEST_F(Events, StepsByCycle) {
  const std::string out = fused("step\nstep cycle\nstep cycle 340\ninfo warps\nuntil cycle 2000\nreverse-step cycle 500\nuntil umma done\n", "timed");
  EXPECT_THAT(out, HasSubstr("driver timed"));
  EXPECT_THAT(out, ContainsRegex("\\] CTA \\(0,0,0\\) warp 0 \\(mma\\), cycle 1[0-9][0-9]"));
  EXPECT_THAT(out, ContainsRegex("waits since cycle [0-9]+ \\(named_barrier\\)"));
  EXPECT_THAT(out, ContainsRegex("issues at cycle [0-9]+ \\("));
  EXPECT_THAT(out, ContainsRegex(", cycle 2[0-9][0-9][0-9]"));
  EXPECT_THAT(out, ContainsRegex(", cycle 1[0-9][0-9][0-9]"));
  EXPECT_THAT(out, ContainsRegex("is done \\(CTA \\([01],0,0\\) warp 0 at kernel.cpp:"));
  EXPECT_THAT(fused("step cycle\nrestart timed\nstep\nstep cycle 10\n", "eager"), HasSubstr("this driver has no clock"));
}

}  // namespace
}  // namespace drywell::test
