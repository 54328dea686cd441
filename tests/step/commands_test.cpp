// drywell step as a user types it: a small kernel whose every value is known from its PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Thread t stores 3 t to word t of shared memory, then adds 1 to it three times; a function doubles it.
constexpr std::string_view kKernel = R"(.version 8.7
.target sm_100a
.address_size 64
.func (.param .b32 out) twice(.param .b32 in) {
  .reg .b32 %x;
  ld.param.b32 %x, [in];
  add.u32 %x, %x, %x;
  st.param.b32 [out], %x;
  ret;
}
.visible .entry k(.param .u64 result) {
  .shared .align 16 .b8 buf[256];
  .reg .b32 %t, %v, %s, %i, %o;
  .reg .f32 %f;
  .reg .b64 %a, %b;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  mul.lo.u32 %v, %t, 3;
  mov.u32 %s, buf;
  shl.b32 %o, %t, 2;
  add.u32 %s, %s, %o;
  st.shared.u32 [%s], %v;
  mov.u32 %i, 0;
again:
  ld.shared.u32 %v, [%s];
  add.u32 %v, %v, 1;
  st.shared.u32 [%s], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra again;
  {
  .param .b32 arg, back;
  st.param.b32 [arg], %v;
  call (back), twice, (arg);
  ld.param.b32 %v, [back];
  }
  mov.f32 %f, 0f3FC00000;
  ld.param.u64 %a, [result];
  cvt.u64.u32 %b, %o;
  add.u64 %a, %a, %b;
  st.global.u32 [%a], %v;
  ret;
}
)";

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
    write_file_atomically(folder_.file("k.ptx"), kKernel);
  }
  /// Output of the command; `more` is appended to the usual arguments.
  std::string step(const std::string& script, std::vector<std::string> more = {}) {
    write_file_atomically(folder_.file("script"), std::string_view(script));
    std::vector<std::string> words = {"step", folder_.file("k.ptx"), "--block=64", "--buffer=result=u32[64]:zeros", "--arg=@result", "--script", folder_.file("script")};
    words.insert(words.end(), more.begin(), more.end());
    const Finished f = run_process(binary_path(), words);
    exit_code_ = f.exit_code;
    EXPECT_EQ(f.err, "");
    return f.out;
  }
  TemporaryDirectory folder_;
  int exit_code_ = -1;
};

TEST_F(Commands, StepsAndPrints) {
  const std::string out = step("step 2\nprint %v lane 5\nprint %v as f32 lane 0\nprint %t + 2\nlane 7\nprint %v * 2\nwarp 1\nstep 2\nprint %v lane 0\n");
  EXPECT_THAT(out, HasSubstr("%v = 0x0000000f\n"));
  EXPECT_THAT(out, HasSubstr("%v = 0\n"));
  EXPECT_THAT(out, HasSubstr("%t + 2 = 2\n"));
  EXPECT_THAT(out, HasSubstr("%v * 2 = 42"));
  EXPECT_THAT(out, HasSubstr("%v = 0x00000060\n"));  // thread 32
  EXPECT_EQ(exit_code_, 0);
}

// Kernels of Python have hundreds of registers, and no names of the source's variables.
TEST_F(Commands, ShowsTheRegistersOfALine) {
  const std::string out = step("step 3\ninfo line\nprint a_ptrs\n");
  EXPECT_THAT(out, HasSubstr("(drywell) info line\nregisters of ptx:20, lane 0 (print %REGISTER shows every lane)\n  %t         0x00000000                   %o         0xffffffff\n"));
  EXPECT_THAT(out, Not(testing::ContainsRegex("%v         0x")));
  EXPECT_THAT(out, HasSubstr("variables of the source are registers here: info line shows those of this line"));
}

TEST_F(Commands, BreaksAtPlacesWithConditions) {
  const std::string out = step("break again if %i == 2 && %tid.x == 40\ncontinue\nprint %i\ncontinue\n");
  EXPECT_THAT(out, HasSubstr("break 1: again if %i == 2 && %tid.x == 40\n"));
  EXPECT_THAT(out, HasSubstr("CTA (0,0,0) warp 1\n"));
  EXPECT_THAT(out, HasSubstr("%i = 0x00000002 in every lane\n"));
  EXPECT_THAT(out, HasSubstr("the launch is over"));
  EXPECT_THAT(step("break ptx:26\ncontinue\ninfo break\ndisable 1\ncontinue\n"), HasSubstr("=> pc:8 ptx:26        add.u32 %v, %v, 1;"));
  EXPECT_THAT(step("break k.ptx:26\ncontinue\n"), HasSubstr("=> pc:8 ptx:26        add.u32 %v, %v, 1;"));  // as messages name it
  EXPECT_THAT(step("tbreak st.shared\ncontinue\ninfo break\n"), HasSubstr("no breakpoints"));
  EXPECT_THAT(step("until add.u32\nprint %s lane 0\nuntil twice\nwhere\nfinish\nprint %v lane 1\n"), HasSubstr("called by k at ptx:34"));
}

// A line of a wrapper, and below it the call in the kernel that it was inlined for.
TEST_F(Commands, BreaksAtCallsThatWereInlined) {
  write_file_atomically(folder_.file("script"), std::string_view("break tma_copy.cu:18\ncontinue\n"));
  const Finished f = run_process(binary_path(), {"step", source_path("examples/cuda/tma_copy.toml"), "--script", folder_.file("script")});
  EXPECT_EQ(f.err, "");
  EXPECT_THAT(f.out, HasSubstr("break 1: tma_copy.cu:18\n"));
  EXPECT_THAT(f.out, testing::ContainsRegex("   ptx.cuh:44[^\n]*\n   < tma_copy.cu:18"));
}

TEST_F(Commands, WatchesAndGoesBack) {
  // Word 9 of shared memory: 27, then 28, 29, 30.
  const std::string out = step("break call\ncontinue\nprint %s lane 9\nx smem %s,16 as u32\nreverse-continue smem %s+36\ngoto 0\nrestart shuffled:4\nwarp 0\n");
  EXPECT_THAT(out, HasSubstr("0x1d -> 0x1e"));
  EXPECT_THAT(out, HasSubstr("  3  6  9 12 15 18 21 24"));
  EXPECT_THAT(out, HasSubstr("again from the beginning, driver shuffled:4"));
  const std::string watched = step("step 5\nwatch smem %s,4\ncontinue\ncontinue\ncontinue\ncontinue\nreverse-continue\nreverse-continue\n");
  EXPECT_THAT(watched, HasSubstr("0xffffffff -> 0x0"));
  EXPECT_THAT(watched, HasSubstr("0x2 -> 0x3"));
  EXPECT_THAT(watched, HasSubstr("0x0 -> 0x1"));
  EXPECT_THAT(step("watch %f\ncontinue\nprint %f\nreverse-step 2\nreverse-continue\n"), HasSubstr("%f = 1.5 in every lane"));
}

TEST_F(Commands, TellsWhoWrote) {
  const std::string out = step("break mov.f32\ncontinue\nwho smem 0x400,4\nwho %v\nwho %p\nwho gmem 0x7f0000000000\n");
  EXPECT_THAT(out, HasSubstr("smem 0x400,4 = 0x3: written by step"));
  EXPECT_THAT(out, HasSubstr("did st.shared.u32 [%s], %v; at ptx:27"));
  EXPECT_THAT(out, HasSubstr("lane 0 stored 4 bytes"));
  EXPECT_THAT(out, HasSubstr("did setp.lt.u32 %p, %i, 3; at ptx:29"));
  EXPECT_THAT(out, HasSubstr("as the launch found it"));
}

TEST_F(Commands, StepsBackExactly) {
  const std::string out = step("step 7\nprint %v lane 3\nstep\nstep\nprint %v lane 3\nreverse-step 2\nprint %v lane 3\nstep 2\nprint %v lane 3\n");
  const auto count = [&](std::string_view what) {
    size_t n = 0;
    for (size_t at = out.find(what); at != std::string::npos; at = out.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("%v = 0x00000009\n"), 2u) << out;
  EXPECT_EQ(count("%v = 0x0000000a\n"), 2u) << out;
}

TEST_F(Commands, SaysWhatIsWrong) {
  const std::string out = step("fly\nstep x\nbreak nowhere\nbreak again if %i ==\nprint %nothing\nx smem 0xffffff\ntmem 200 0\nprint %v as f33\ncta 7\nwarp 9\ngoto 3 4\nwatch smem\nwho tmem 5\n");
  for (const char* what : {"no command 'fly'", "'x' is no number", "no place 'nowhere'", "something is missing at the end", "no register '%nothing'", "nothing is at", "'200' is not N or N..M below 128",
                           "no type 'f33'", "the grid has no such CTA", "the block has 2 warps", "'4' is too much", "smem: where?", "tmem takes LANES,COLUMNS"}) {
    EXPECT_THAT(out, HasSubstr(what));
  }
  EXPECT_EQ(exit_code_, 0);
}

TEST_F(Commands, EndsWithTheKernelsVerdict) {
  // Thread 9: (27 + 3) * 2.
  const std::string out = step("continue\nx gmem 0x7f0000000000,16 as u32\nreverse-step any\ncontinue\nquit\n");
  EXPECT_THAT(out, HasSubstr("  6 12 18 24 30 36 42 48\n"));
  EXPECT_EQ(exit_code_, 0);
  const Finished listed = run_process(binary_path(), {"step", folder_.file("k.ptx"), "--launch", "2", "--block=64", "--buffer=result=u32[64]:zeros", "--arg=@result"});
  EXPECT_EQ(listed.exit_code, 2);
  EXPECT_THAT(listed.err, HasSubstr("the run ended after 1 launch"));
}

TEST_F(Commands, PanesFollowEveryStep) {
  const std::string out = step("panes print %i lane 0; info mbarriers\nstep 7\nprint %v lane 1\nstep 6\npanes off\nstep\npanes fly\n");
  EXPECT_THAT(out, HasSubstr("after every step: print %i lane 0, info mbarriers; panes off ends it"));
  size_t shown = 0;
  for (size_t at = out.find("── print %i"); at != std::string::npos; at = out.find("── print %i", at + 1)) ++shown;
  EXPECT_EQ(shown, 2u) << "after each of two steps, not after a command that stays\n"
                       << out;
  EXPECT_THAT(out, HasSubstr("no command 'fly'"));
}

// A command in a pane that changes the panes, and commands that run.
TEST_F(Commands, PanesDoNotChangeWhatIsShownNow) {
  const std::string out = step("panes panes list 1; info mbarriers\nstep 7\nstep\npanes off\npanes list 1; step 2\npanes quit\nstep 1\n");
  EXPECT_THAT(out, HasSubstr("after every step: list 1; panes off ends it"));
  EXPECT_THAT(out, HasSubstr("panes: 'step 2' would run after every step"));
  EXPECT_THAT(out, HasSubstr("panes: 'quit' would run after every step"));
  EXPECT_EQ(exit_code_, 0);
}

// Numbers that 32 bits do not hold are no other warps, lanes, lines or breakpoints.
TEST_F(Commands, NumbersAreNotCut) {
  const std::string out = step("break again\nwarp 4294967296\ncta 4294967296\ndelete 4294967297\ndisable 4294967297\nset %v = 7 lane 4294967297\nuntil 4294967245\nprint u32[smem 0-5]\nprint 1e999\nprint 0x1p3\nprint 1.5e3\nprint 0x10\ninfo break\n");
  for (const char* what : {"warp: there is no number 4294967296", "cta: there is no number", "delete: there is no number 4294967297", "number: there is no number", "lane: there is no number",
                           "no code at line 4294967245", "smem: -5 is no address", "'1e999' is no number", "'0x1p3' is no number", "1.5e3 = 1500", "0x10 = 16", "1 break again"})
    EXPECT_THAT(out, HasSubstr(what));
}

TEST_F(Commands, WordsOfOtherDebuggersAreUnderstood) {
  const std::string out = step("regs\nback 3\nthreads\nsi\n");
  for (const char* what : {"here it is 'info registers'", "here it is 'reverse-step'", "here it is 'info warps'", "here it is 'step'"}) EXPECT_THAT(out, HasSubstr(what));
}

TEST_F(Commands, AChangedRegisterStaysChanged) {
  const std::string out = step("set %tid.x = 1\nstep 5\nset %v = 90 lane 1\nstep\nreverse-step 6\nstep 6\nprint %v lane 1\ncontinue\nx gmem 0x7f0000000000,16 as u32\n");
  EXPECT_THAT(out, HasSubstr("%v = 90 in lane 1"));
  EXPECT_THAT(out, HasSubstr("%v = 0x0000005a"));
  EXPECT_THAT(out, HasSubstr("%tid.x cannot be changed: it is a special register"));
  // The first thread is as it was; the second stored 90, or what the kernel made of it: (90 + 3) * 2.
  EXPECT_THAT(out, HasSubstr("  6 186  18  24 "));
}

}  // namespace
}  // namespace drywell::test
