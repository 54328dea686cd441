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

// nvcc -G sets a field of bits so, the first of its word, too.
TEST(LocalHoles, FieldsOfBitsFillTheirWord) {
  const std::string field = "ld.local.u32 %r9, [%frame+8]; and.b32 %r9, %r9, 0xffffff00; and.b32 %r8, %r2, 0xff; or.b32 %r9, %r9, %r8; ";
  EXPECT_EQ(found(field + "st.local.u32 [%frame+8], %r9; ld.local.u32 %r9, [%frame+8]; and.b32 %r9, %r9, 0xff;" + kSum), kNone);
  EXPECT_EQ(found(field + "st.u32 [%rd8+8], %r9; ld.u32 %r9, [%rd8+8]; and.b32 %r9, %r9, 0xff;" + kSum), kNone);
  EXPECT_EQ(found(field + "st.local.u32 [%frame+12], %r9; ld.local.u32 %r9, [%frame+12];" + kSum), kHole);
}

TEST(LocalHoles, ChoicesLeaveTheValueOut) {
  EXPECT_EQ(found(kLoad + "setp.gt.u32 %p1, %r1, 64; selp.b32 %r9, %r9, %r2, %p1;" + kSum), kNone);
  EXPECT_EQ(found(kLoad + "and.b32 %r9, %r9, 0;" + kSum), kNone);
  EXPECT_EQ(found(kLoad + "setp.gt.u32 %p1, %r1, 64; setp.gt.and.s32 %p2, %r9, 3, %p1; @%p2 bra END; st.global.u32 [%rd1], 1;"), kNone);
}

// The function writes through the pointer; what it returns, and what it is given, passes without an access of its own.
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

// Compilers pass structures as arrays of bytes, and with them the fields that nobody has written: 8 bytes, of which the first 4 have a value.
const std::string kSecond = R"(
.func (.param .b32 result) second(.param .align 8 .b8 pair[8], .param .b32 which)
{
  .reg .b32 %r<9>;
  .reg .pred %p<3>;
  ld.param.v2.u32 {%r1, %r2}, [pair];
  ld.param.u32 %r3, [which];
  setp.eq.u32 %p1, %r3, 1;
  @%p1 bra SUM;
  st.param.b32 [result], %r1;
  ret;
SUM:
  add.u32 %r2, %r2, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .align 8 .b8 pair[8]) make(.param .b32 value)
{
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [value];
  st.param.b32 [pair], %r1;
  st.param.b32 [pair+4], %r2;
  ret;
}
.func (.param .align 8 .b8 pair[8]) on(.param .align 8 .b8 in[8])
{
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [in];
  ld.param.u32 %r2, [in+4];
  st.param.b32 [pair+4], %r2;
  st.param.b32 [pair], %r1;
  ret;
}
)";

std::string pass(const std::string& fields, const std::string& which) {
  return "{ .param .align 8 .b8 a[8]; .param .b32 b; .param .b32 c; " + fields + " st.param.b32 [b], " + which + "; call (c), second, (a, b); ld.param.b32 %r9, [c]; }" + kSum;
}

TEST(LocalHoles, GoWithStructuresThatArePassed) {
  const std::string registers = "st.param.b32 [a], %r2; st.param.b32 [a+4], %r20;", whole = "st.param.b32 [a], %r2; st.param.b32 [a+4], %r2;";
  EXPECT_EQ(found(pass(registers, "0"), kSecond), kNone);
  EXPECT_EQ(found(pass(registers, "1"), kSecond), kHole);
  EXPECT_EQ(found(pass(whole, "1"), kSecond), kNone);
  EXPECT_EQ(found(pass("st.local.u32 [%frame], %r2; ld.local.v2.u32 {%r5, %r6}, [%frame]; st.param.v2.b32 [a], {%r5, %r6};", "0"), kSecond), kNone);
  EXPECT_EQ(found(pass("st.local.u32 [%frame], %r2; ld.local.v2.u32 {%r5, %r6}, [%frame]; st.param.v2.b32 [a], {%r5, %r6};", "1"), kSecond), kHole);
  EXPECT_EQ(found(pass("st.param.b32 [a], %r2;", "1"), kSecond), kHole);
}

// The same frame of the function serves both calls.
TEST(LocalHoles, AreThoseOfTheLastCall) {
  const std::string whole = pass("st.param.b32 [a], %r2; st.param.b32 [a+4], %r2;", "1"), half = pass("st.param.b32 [a], %r2;", "1");
  EXPECT_EQ(found(whole + half, kSecond), kHole);
  EXPECT_EQ(found(whole + pass("st.param.b32 [a], %r2;", "0") + whole, kSecond), kNone);
}

// Odd threads leave the second field out; they call the function apart from the others, and through its address.
TEST(LocalHoles, ThatArePassedAreTheLanesOwn) {
  const std::string fields = "and.b32 %r7, %r1, 1; setp.eq.u32 %p1, %r7, 0; st.param.b32 [a], %r2; @%p1 st.param.b32 [a+4], %r2; selp.u32 %r8, 1, 0, %p1;";
  EXPECT_EQ(found(pass(fields, "%r8"), kSecond), kNone);
  EXPECT_EQ(found(pass(fields + " xor.b32 %r8, %r8, 1;", "%r8"), kSecond), kHole);
  const std::string call = "{ .param .align 8 .b8 a[8]; .param .b32 b; .param .b32 c; " + fields +
                           " st.param.b32 [b], %r8; mov.u64 %rd9, second; proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[8], .param .b32 _);\n"
                           "@%p1 call (c), %rd9, (a, b), proto; @%p1 bra JOIN; call (c), %rd9, (a, b), proto; JOIN: ld.param.b32 %r9, [c]; }" +
                           kSum;
  EXPECT_EQ(found(call, kSecond), kNone);
}

TEST(LocalHoles, ComeBackWithStructuresThatAreReturned) {
  const auto made = [](const std::string& field, const std::string& more) {
    return "{ .param .b32 v; .param .align 8 .b8 p[8]; st.param.b32 [v], %r2; call (p), make, (v); ld.param.v2.b32 {%r11, %r12}, [p]; }" + more + "mov.b32 %r9, " + field + ";" + kSum;
  };
  const std::string again = "{ .param .align 8 .b8 p[8]; .param .align 8 .b8 q[8]; st.param.v2.b32 [p], {%r11, %r12}; call (q), on, (p); ld.param.v2.b32 {%r11, %r12}, [q]; }";
  EXPECT_EQ(found(made("%r11", ""), kSecond), kNone);
  EXPECT_EQ(found(made("%r12", ""), kSecond), kHole);
  EXPECT_EQ(found(made("%r11", again + again), kSecond), kNone);
  EXPECT_EQ(found(made("%r12", again + again), kSecond), kHole);
  EXPECT_EQ(found(made("%r11", "st.global.v2.u32 [%rd1], {%r11, %r12};"), kSecond), kNone);
}

// A number keeps the register that it came from. Cooperative groups broadcast so: only one lane has what the function gives to a shuffle.
const std::string kNumbers = R"(
.func (.param .b32 result) broadcast(.param .b32 value)
{
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [value];
  shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .b32 result) same(.param .b32 value)
{
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [value];
  st.param.b32 [result], %r1;
  ret;
}
.func put(.param .b64 at, .param .b32 value)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
std::string number(const std::string& function, const std::string& from, const std::string& to) {
  return "{ .param .b32 a; .param .b32 b; st.param.b32 [a], " + from + "; call (b), " + function + ", (a); ld.param.b32 " + to + ", [b]; }";
}

TEST(LocalHoles, NumbersWithoutAValueAreFollowed) {
  const std::string leader = "setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r20, %r2;";
  const Codes register_code{"H7502"};
  EXPECT_EQ(found(leader + number("broadcast", "%r20", "%r9") + kSum, kNumbers), kNone);
  EXPECT_EQ(found(leader + number("same", "%r20", "%r19") + number("broadcast", "%r19", "%r9") + kSum, kNumbers), kNone);
  EXPECT_EQ(found(leader + number("same", "%r20", "%r9") + kSum, kNumbers), register_code);
  EXPECT_EQ(found(leader + number("same", "%r20", "%r9") + number("same", "%r2", "%r9") + kSum, kNumbers), kNone);
  EXPECT_EQ(found(leader + "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r20; call put, (a, b); }", kNumbers), register_code);
  EXPECT_EQ(found(leader + "@%p1 bra CALL; bra END; CALL: { .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r20; call put, (a, b); }", kNumbers), kNone);
  EXPECT_EQ(found("{ .param .align 8 .b8 a[8]; .param .b32 b; .param .b32 c; st.param.v2.b32 [a], {%r2, %r2}; st.param.b32 [b], %r20; call (c), second, (a, b); ld.param.b32 %r9, [c]; }" + kSum, kSecond), register_code);
}

}  // namespace
}  // namespace drywell::sim
