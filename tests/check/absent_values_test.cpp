// H7505 and H7506: values that shuffles take from lanes that take no part, followed to their uses; what people write to leave them out is
// silent.
#include <gtest/gtest.h>

#include <set>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using Codes = std::set<std::string>;

/// In `body`: %r1 is the thread's number, %r2 a value of its own, %rd1 its place in global memory, %rd3 the buffer, %r3 its place in
/// shared memory. `functions` come first.
Codes found(const std::string& body, uint32_t threads, const std::string& functions = "") {
  Device d({.arch = "sm_90a"});
  const LoadedModule m = d.load_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 to, .param .u64 from)
{
  .reg .b16 %h<9>;
  .reg .b32 %r<30>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<20>;
  .reg .f64 %fd<9>;
  .reg .pred %p<9>;
  .local .align 8 .b8 %frame[64];
  .shared .align 8 .b8 s[256];
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd3, [to];
  ld.param.u64 %rd4, [from];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd3, %rd2;
  add.u64 %rd4, %rd4, %rd2;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, s;
  mad.lo.u32 %r3, %r1, 4, %r3;
)" + body + "\nEND:\n  ret;\n}\n");
  const GmemAddr to = d.allocate(1024, "to"), from = d.allocate(1024, "from");
  std::vector<int32_t> values(256);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(7 + i * 5 % 13);
  d.write(from, values.data(), 1024);
  d.fill(to, 0, 1024);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {threads}}, Args().add(to).add(from), o);
  EXPECT_TRUE(r.ok()) << body;
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

const Codes kNone, kError{"H7505"}, kWarning{"H7506"};
const std::string kStore = "st.global.u32 [%rd1], %r9;";
/// The neighbour at distance 16; lanes 4 to 15 of 20 have none.
const std::string kShuffle = "shfl.sync.bfly.b32 %r9, %r2, 16, 31, -1;";

TEST(AbsentValues, AreReportedWhereTheyAreUsed) {
  EXPECT_EQ(found(kShuffle + kStore, 20), kError);
  EXPECT_EQ(found(kShuffle + "mov.b32 %r10, %r9; cvt.u64.u32 %rd9, %r10; cvt.u32.u64 %r9, %rd9;" + kStore, 20), kError);
  EXPECT_EQ(found(kShuffle + "mul.lo.u32 %r9, %r9, %r2;" + kStore, 20), kError);
  EXPECT_EQ(found(kShuffle + "red.global.add.u32 [%rd3], %r9;", 20), kError);
  EXPECT_EQ(found(kShuffle + "atom.shared.add.u32 %r10, [s], %r9;", 20).count("H7505"), 1u);
  EXPECT_EQ(found(kShuffle + "and.b32 %r9, %r9, 63; mul.wide.u32 %rd9, %r9, 4; add.u64 %rd9, %rd3, %rd9; ld.global.u32 %r10, [%rd9];", 20), kError);
  EXPECT_EQ(found(kShuffle + "st.global.v2.u32 [%rd3], {%r1, %r9};", 20).count("H7505"), 1u);
}

TEST(AbsentValues, AreWarningsWhereHardwareForgivesThem) {
  EXPECT_EQ(found(kShuffle + "add.u32 %r9, %r9, %r2;" + kStore, 20), kWarning);
  EXPECT_EQ(found(kShuffle + "max.u32 %r9, %r9, %r2;" + kStore, 20), kWarning);
  EXPECT_EQ(found(kShuffle + "min.u32 %r9, %r9, %r2;" + kStore, 20), kError);
  EXPECT_EQ(found(kShuffle + "st.shared.u32 [%r3], %r9;", 20), kWarning);
  EXPECT_EQ(found(kShuffle + "setp.gt.u32 %p1, %r9, 8; @%p1 bra END; st.global.u32 [%rd1], 1;", 20), kWarning);
  // Under another member mask, in the same shuffle.
  EXPECT_EQ(found("setp.lt.u32 %p1, %r1, 16; selp.b32 %r4, 0xffff, 0xffff0000, %p1; shfl.sync.bfly.b32 %r9, %r2, 16, 31, %r4;" + kStore, 32), kWarning);
}

TEST(AbsentValues, ThatNothingUsesAreSilent) {
  EXPECT_EQ(found(kShuffle, 20), kNone);
  EXPECT_EQ(found(kShuffle + "mul.lo.u32 %r9, %r9, %r2; setp.lt.u32 %p1, %r1, 4; @%p1 " + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + "mov.b32 %r9, %r2;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + "st.local.u32 [%frame], %r9;", 20), kNone);
}

TEST(AbsentValues, AreLeftOutByAChoice) {
  const std::string has = "add.u32 %r11, %r1, 0; xor.b32 %r11, %r1, 16; setp.lt.u32 %p1, %r11, 20;";
  EXPECT_EQ(found(kShuffle + has + "selp.b32 %r9, %r9, %r2, %p1;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "@!%p1 mov.b32 %r9, %r2;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "add.u32 %r10, %r9, %r2; selp.b32 %r9, %r10, %r2, %p1;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "selp.b32 %r12, -1, 0, %p1; and.b32 %r9, %r9, %r12;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "selp.b32 %r12, 0, -1, %p1; or.b32 %r9, %r9, %r12;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "selp.b32 %r12, 1, 0, %p1; mul.lo.u32 %r9, %r9, %r12;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "selp.b32 %r12, 1, -1, %p1; slct.b32.s32 %r9, %r9, %r2, %r12;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "setp.gt.and.u32 %p2, %r9, %r2, %p1; selp.b32 %r9, %r9, %r2, %p2;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "setp.gt.u32 %p2, %r9, %r2; and.pred %p2, %p2, %p1; @%p2 bra END; st.global.u32 [%rd1], 1;", 20), kNone);
  EXPECT_EQ(found(kShuffle + has + "not.pred %p3, %p1; setp.le.u32 %p2, %r9, %r2; or.pred %p2, %p2, %p3; selp.b32 %r9, %r2, %r9, %p2;" + kStore, 20), kNone);
}

// A sum over the lanes of a warp that are there.
TEST(AbsentValues, ReductionsOfPartialWarpsWithAGuardAreSilent) {
  std::string guarded = "mov.b32 %r9, %r2;", bare = guarded, whole = guarded, half = guarded;
  for (const char* d : {"16", "8", "4", "2", "1"}) {
    const std::string down = std::string("shfl.sync.down.b32 %r10, %r9, ") + d + ", 31, -1;";
    guarded += down + "add.u32 %r11, %r1, " + d + "; setp.lt.u32 %p1, %r11, 20; @%p1 add.u32 %r9, %r9, %r10;";
    bare += down + "mul.lo.u32 %r11, %r9, %r10; mov.b32 %r9, %r11;";
    whole += down + "add.u32 %r9, %r9, %r10;";
    if (std::string(d) != "16") half += std::string("shfl.sync.down.b32 %r10, %r9, ") + d + ", 31, 0xffff; add.u32 %r9, %r9, %r10;";
  }
  const std::string first = "setp.eq.u32 %p2, %r1, 0; @%p2 ";
  EXPECT_EQ(found(guarded + first + kStore, 20), kNone);
  EXPECT_EQ(found(bare + first + kStore, 20), kError);
  EXPECT_EQ(found(whole + kStore, 32), kNone);  // lanes beyond the end have their own value
  EXPECT_EQ(found("setp.ge.u32 %p1, %r1, 16; @%p1 bra END;" + half + first + kStore, 32), kNone);
}

// An inclusive scan: lanes without a predecessor at that distance are out of range, which the predicate says.
TEST(AbsentValues, ScansAreSilent) {
  std::string compare = "mov.b32 %r9, %r2;", predicate = compare;
  for (const char* d : {"1", "2", "4", "8", "16"}) {
    compare += std::string("shfl.sync.up.b32 %r10, %r9, ") + d + ", 0, 0xfffff; setp.ge.u32 %p1, %r1, " + d + "; @%p1 add.u32 %r9, %r9, %r10;";
    predicate += std::string("shfl.sync.up.b32 %r10|%p1, %r9, ") + d + ", 0, 0xfffff; @%p1 add.u32 %r9, %r9, %r10;";
  }
  EXPECT_EQ(found(compare + kStore, 20), kNone);
  EXPECT_EQ(found(predicate + kStore, 20), kNone);
}

TEST(AbsentValues, OfTwoWordsAreOne) {
  const std::string pair = "cvt.u64.u32 %rd9, %r2; mov.b64 {%r12, %r13}, %rd9; shfl.sync.bfly.b32 %r14, %r12, 16, 31, -1; shfl.sync.bfly.b32 %r15, %r13, 16, 31, -1; mov.b64 %rd10, {%r14, %r15};";
  EXPECT_EQ(found(pair + "cvt.u32.u64 %r9, %rd10;" + kStore, 20), kError);
  EXPECT_EQ(found(pair + "add.u64 %rd11, %rd10, %rd9; cvt.u32.u64 %r9, %rd11;" + kStore, 20), kWarning);
  EXPECT_EQ(found(pair + "setp.gt.u32 %p1, %r1, 3; setp.lt.u32 %p2, %r1, 16; and.pred %p1, %p1, %p2; selp.b64 %rd11, %rd9, %rd10, %p1; cvt.u32.u64 %r9, %rd11;" + kStore, 20), kNone);
}

TEST(AbsentValues, AreDroppedWhereTheBitsAre) {
  EXPECT_EQ(found(kShuffle + "prmt.b32 %r9, %r9, %r2, 0x7654;" + kStore, 20), kNone);
  EXPECT_EQ(found(kShuffle + "prmt.b32 %r9, %r9, %r2, 0x7610;" + kStore, 20), kError);
}

TEST(AbsentValues, StayBehindACall) {
  const std::string function = ".func (.param .b32 out) f(.param .b32 in)\n{\n .reg .b32 %q<4>;\n ld.param.b32 %q1, [in];\n add.u32 %q1, %q1, 1;\n st.param.b32 [out], %q1;\n ret;\n}\n";
  const std::string call = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r12, [b]; }";
  EXPECT_EQ(found(kShuffle + call + "mov.b32 %r9, %r12;" + kStore, 20, function), kNone);
  EXPECT_EQ(found(kShuffle + call + kStore, 20, function), kError);
}

}  // namespace
}  // namespace drywell::sim
