// H7507: values from local memory that nothing has written, followed to their uses. What compilers make of right programs is silent:
// copies of structures with holes, bytes of a word, memory that a function writes, choices that leave the value out.
#include <gtest/gtest.h>

#include <set>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using Codes = std::set<std::string>;

/// In `body`: %r1 is the thread's number, %r2 a value, %rd1 its place in global memory, %rd3 the buffer, %rd8 the generic address of %frame.
Codes found(const std::string& body, const std::string& functions = "") {
  Device d({.arch = "sm_90a"});
  const LoadedModule m = d.load_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 to, .param .u64 from)
{
  .reg .b16 %h<9>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<20>;
  .reg .pred %p<9>;
  .local .align 16 .b8 %frame[64];
  .shared .align 8 .b8 s[256];
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd3, [to];
  ld.param.u64 %rd4, [from];
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd1, %rd3, %rd2;
  ld.global.u32 %r2, [%rd4];
  mov.u64 %rd7, %frame;
  cvta.local.u64 %rd8, %rd7;
)" + body + "\nEND:\n  ret;\n}\n");
  const GmemAddr to = d.allocate(1024, "to"), from = d.allocate(1024, "from");
  d.fill(from, 0, 1024);
  d.fill(to, 0, 1024);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(to).add(from), o);
  EXPECT_TRUE(r.ok()) << body;
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

const Codes kNone, kHole{"H7507"};
const std::string kLoad = "st.local.u32 [%frame], %r2; ld.local.u32 %r9, [%frame+4];";
const std::string kSum = "add.u32 %r9, %r9, %r2; st.global.u32 [%rd1], %r9;";

TEST(LocalHoles, AreReportedWhereTheyAreUsed) {
  EXPECT_EQ(found(kLoad + kSum), kHole);
  EXPECT_EQ(found(kLoad + "setp.gt.s32 %p1, %r9, 8; @%p1 bra END; st.global.u32 [%rd1], 1;"), kHole);
  EXPECT_EQ(found(kLoad + "red.global.add.u32 [%rd3], %r9; mul.lo.u32 %r9, %r9, 3; red.global.add.u32 [%rd3], %r9;"), kHole);
  EXPECT_EQ(found(kLoad + "and.b32 %r9, %r9, 63; mul.wide.u32 %rd9, %r9, 4; add.u64 %rd9, %rd3, %rd9; ld.global.u32 %r10, [%rd9];"), kHole);
  EXPECT_EQ(found("st.local.v2.u32 [%frame], {%r1, %r2}; ld.local.v4.u32 {%r6, %r7, %r8, %r9}, [%frame];" + kSum), kHole);
  EXPECT_EQ(found("st.u32 [%rd8+8], %r2; ld.u32 %r9, [%rd8+4];" + kSum), kHole);
}

TEST(LocalHoles, OfOneLaneAreItsOwn) {
  EXPECT_EQ(found("setp.ne.u32 %p2, %r1, 5; @%p2 st.local.u32 [%frame], %r2; ld.local.u32 %r9, [%frame];" + kSum), kHole);
  EXPECT_EQ(found("setp.ne.u32 %p2, %r1, 5; @%p2 st.local.u32 [%frame], %r2; @%p2 ld.local.u32 %r9, [%frame]; @!%p2 mov.u32 %r9, 0;" + kSum), kNone);
}

TEST(LocalHoles, AreFollowedThroughCopies) {
  const std::string copy = "st.local.u32 [%frame], %r2; ld.local.v2.u32 {%r5, %r6}, [%frame]; st.local.v2.u32 [%frame+16], {%r5, %r6};";
  EXPECT_EQ(found(copy + "ld.local.u32 %r9, [%frame+16];" + kSum), kNone);
  EXPECT_EQ(found(copy + "ld.local.u32 %r9, [%frame+20];" + kSum), kHole);
}

TEST(LocalHoles, MemoryThatWasWrittenHasNone) {
  EXPECT_EQ(found("st.local.u32 [%frame], %r2; ld.local.u32 %r9, [%frame];" + kSum), kNone);
  EXPECT_EQ(found("st.u32 [%rd8+4], %r2; ld.local.u32 %r9, [%frame+4];" + kSum), kNone);
  EXPECT_EQ(found("st.local.v4.u32 [%frame], {%r1, %r1, %r2, %r2}; ld.local.u64 %rd9, [%frame+8]; add.u64 %rd9, %rd9, 1; st.global.u64 [%rd1], %rd9;"), kNone);
  EXPECT_EQ(found("shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1; st.local.u32 [%frame], %r5; ld.local.u32 %r9, [%frame];" + kSum), kNone);
}

TEST(LocalHoles, CopiesOfStructuresAreNoUse) {
  const std::string load = "st.local.u32 [%frame], %r2; ld.local.v2.u32 {%r5, %r6}, [%frame];";
  EXPECT_EQ(found(load + "st.global.v2.u32 [%rd1], {%r5, %r6};"), kNone);
  EXPECT_EQ(found(load + "mov.b32 %r7, %r6; mov.b64 %rd9, {%r5, %r7}; st.global.u64 [%rd1], %rd9;"), kNone);
  EXPECT_EQ(found(load + "mov.u64 %rd9, s; st.shared.v2.u32 [s], {%r5, %r6};").count("H7507"), 0u);
}

// A byte or a half of a word, as fields of a structure are loaded.
TEST(LocalHoles, WordsOfWhichAPartWasWrittenAreNotFollowed) {
  EXPECT_EQ(found("cvt.u16.u32 %h1, %r2; st.local.u16 [%frame], %h1; ld.local.u32 %r9, [%frame]; and.b32 %r9, %r9, 0xffff;" + kSum), kNone);
}

TEST(LocalHoles, ChoicesLeaveTheValueOut) {
  EXPECT_EQ(found(kLoad + "setp.gt.u32 %p1, %r1, 64; selp.b32 %r9, %r9, %r2, %p1;" + kSum), kNone);
  EXPECT_EQ(found(kLoad + "and.b32 %r9, %r9, 0;" + kSum), kNone);
  EXPECT_EQ(found(kLoad + "setp.gt.u32 %p1, %r1, 64; setp.gt.and.s32 %p2, %r9, 3, %p1; @%p2 bra END; st.global.u32 [%rd1], 1;"), kNone);
}

// The function writes through the pointer; what it returns, and what it is given, passes without an access.
TEST(LocalHoles, FunctionsWriteTheMemoryOfTheirCaller) {
  const std::string fill = R"(
.func (.param .b32 result) fill(.param .b64 at, .param .b32 value)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [value];
  st.u32 [%rd1], %r1;
  st.param.b32 [result], %r1;
  ret;
}
)";
  const std::string call = R"({ .param .b64 a; .param .b32 v; .param .b32 out; st.param.b64 [a], %rd8; st.param.b32 [v], %r2;
    call (out), fill, (a, v); ld.param.b32 %r8, [out]; } )";
  EXPECT_EQ(found(call + "ld.local.u32 %r9, [%frame]; add.u32 %r9, %r9, %r8;" + kSum, fill), kNone);
  EXPECT_EQ(found(call + "ld.local.u32 %r9, [%frame+4]; add.u32 %r9, %r9, %r8;" + kSum, fill), kHole);
}

}  // namespace
}  // namespace drywell::sim
