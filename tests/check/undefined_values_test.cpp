// H7501 and H7502: registers and shared memory that nothing has written, followed to their uses. What libraries do with a tile that is not full
// is silent: they compute with the rest, exchange it through shared memory, and store what is valid.
#include <gtest/gtest.h>

#include <set>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using Codes = std::set<std::string>;

/// In `body`: %r1 is the thread's number, %p1 true in threads 0 to 15, %r2 its place in shared memory (two words), %r3 its neighbour's at
/// distance 16, %rd1 its place in global memory, %rd3 the buffer; threads 0 to 15 have 7 in %r9, the others nothing.
Codes found(const std::string& body, const std::string& functions = "") {
  Device d({.arch = "sm_90a"});
  const LoadedModule m = d.load_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 to)
{
  .reg .b16 %h<9>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<20>;
  .reg .pred %p<9>;
  .local .align 8 .b8 %frame[64];
  .shared .align 8 .b8 s[256];
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd3, [to];
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd1, %rd3, %rd2;
  setp.lt.u32 %p1, %r1, 16;
  mov.u32 %r2, s;
  xor.b32 %r3, %r1, 16;
  mad.lo.u32 %r3, %r3, 8, %r2;
  mad.lo.u32 %r2, %r1, 8, %r2;
  @%p1 mov.u32 %r9, 7;
)" + body + "\nEND:\n  ret;\n}\n");
  const GmemAddr to = d.allocate(1024, "to");
  d.fill(to, 0, 1024);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(to), o);
  EXPECT_TRUE(r.ok()) << body;
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

const Codes kNone, kShared{"H7501"}, kRegister{"H7502"};
const std::string kStore = "st.global.u32 [%rd1], %r9;", kValid = "@%p1 st.global.u32 [%rd1], %r9;";
const std::string kExchange = "st.shared.u32 [%r2], %r9; bar.sync 0; ld.shared.u32 %r10, [%r3];";

TEST(UndefinedRegisters, AreReportedWhereTheyAreUsed) {
  EXPECT_EQ(found("add.u32 %r9, %r9, 1;" + kStore), kRegister);
  EXPECT_EQ(found(kStore), kRegister) << "a copy in global memory is a use";
  EXPECT_EQ(found("setp.gt.s32 %p2, %r9, 8; @%p2 bra END; st.global.u32 [%rd1], 1;"), kRegister);
  EXPECT_EQ(found("setp.gt.s32 %p2, %r9, 8; @%p2 st.global.u32 [%rd1], 1;"), kRegister) << "the guard decides what is stored";
  EXPECT_EQ(found("red.shared.add.u32 [%r2], %r9;"), (Codes{"H7501", "H7502"}));
  EXPECT_EQ(found("and.b32 %r9, %r9, 63; mul.wide.u32 %rd9, %r9, 4; add.u64 %rd9, %rd3, %rd9; ld.global.u32 %r10, [%rd9];"), kRegister);
  EXPECT_EQ(found("shfl.sync.bfly.b32 %r10, %r9, 16, 31, -1; add.u32 %r9, %r9, %r10;" + kValid), kRegister) << "a sum of the whole warp";
}

// As nvcc makes a char4 of four values, whose other bytes nothing sets at first (%r20 to %r22 are never written).
TEST(UndefinedRegisters, BytesOfAWordAreSetOneByOne) {
  const std::string pack = "prmt.b32 %r10, %r1, %r20, 0x3340; prmt.b32 %r11, %r21, %r22, 0x3340; prmt.b32 %r12, %r10, %r11, 0x5410;";
  const std::string second = "bfi.b32 %r13, %r1, %r12, 8, 8;", third = "bfi.b32 %r14, %r1, %r13, 16, 8;", store = "st.global.u32 [%rd1], ";
  EXPECT_EQ(found(pack + second + third + "bfi.b32 %r15, %r1, %r14, 24, 8;" + store + "%r15;"), kNone);
  EXPECT_EQ(found(pack + second + third + store + "%r14;"), kRegister) << "the last byte is missing";
  EXPECT_EQ(found(pack + second + third + "and.b32 %r15, %r14, 0xFFFFFF;" + store + "%r15;"), kNone);
  EXPECT_EQ(found(pack + second + "bfi.b32 %r15, %r1, %r13, 24, 8;" + store + "%r15;"), kRegister) << "the third byte is missing";
  EXPECT_EQ(found(pack + second + third + "shr.u32 %r15, %r14, 24;" + store + "%r15;"), kRegister);
  EXPECT_EQ(found(pack + "and.b32 %r13, %r12, 0xFF; mul.lo.u32 %r14, %r13, %r13;" + store + "%r14;"), kNone);
  EXPECT_EQ(found(pack + "mul.lo.u32 %r14, %r12, 3; and.b32 %r14, %r14, 0xFF;" + store + "%r14;"), kRegister) << "of products all bits count";
}

TEST(UndefinedRegisters, OfLanesThatStoreNothingAreSilent) {
  EXPECT_EQ(found("add.u32 %r9, %r9, 1;" + kValid), kNone);
  EXPECT_EQ(found("shfl.sync.up.b32 %r10, %r9, 1, 0, -1; setp.ne.u32 %p2, %r1, 0; @%p2 add.u32 %r9, %r9, %r10;" + kValid), kNone) << "a scan from below";
  EXPECT_EQ(found("add.u32 %r9, %r9, 1; selp.u32 %r9, %r9, 0, %p1;" + kStore), kNone);
  EXPECT_EQ(found("add.u32 %r9, %r9, 1; setp.gt.s32 %p2, %r9, 8; and.pred %p2, %p2, %p1; @%p2 st.global.u32 [%rd1], 1;"), kNone);
}

TEST(UndefinedRegisters, AreFollowedThroughSharedMemory) {
  EXPECT_EQ(found(kExchange + "st.global.u32 [%rd1], %r10;"), kRegister);
  EXPECT_EQ(found(kExchange + "@!%p1 st.global.u32 [%rd1], %r10;"), kNone) << "the neighbours of 16 to 31 have values";
  EXPECT_EQ(found("st.shared.u32 [%r2], %r9; bar.sync 0; st.shared.u32 [%r2], 5; bar.sync 0; ld.shared.u32 %r10, [%r3]; st.global.u32 [%rd1], %r10;"), kNone) << "written again";
  EXPECT_EQ(found("st.shared.v2.u32 [%r2], {%r9, %r1}; bar.sync 0; ld.shared.v2.u32 {%r10, %r11}, [%r3]; st.global.u32 [%rd1], %r11;"), kNone) << "the other half";
  EXPECT_EQ(found("st.shared.v2.u32 [%r2], {%r9, %r1}; bar.sync 0; ld.shared.v2.u32 {%r10, %r11}, [%r3]; st.global.u32 [%rd1], %r10;"), kRegister);
}

TEST(UndefinedRegisters, AreFollowedThroughTheThreadsOwnMemory) {
  EXPECT_EQ(found("st.local.u32 [%frame], %r9; ld.local.u32 %r10, [%frame]; add.u32 %r10, %r10, 1; @%p1 st.global.u32 [%rd1], %r10;"), kNone);
  EXPECT_EQ(found("st.local.u32 [%frame], %r9; ld.local.u32 %r10, [%frame]; add.u32 %r10, %r10, 1; st.global.u32 [%rd1], %r10;"), (Codes{"H7507"}));
}

TEST(UndefinedRegisters, OperandsOfWhatIsNoComputationAreUses) {
  EXPECT_EQ(found("add.u32 %r9, %r9, 1; movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r9;"), kRegister);
}

TEST(UndefinedRegisters, AreFollowedIntoFunctions) {
  const std::string call = "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r9; call (q), f, (p); }";
  EXPECT_EQ(found(call, ".func (.param .b32 r) f(.param .b32 a) { st.param.b32 [r], 1; ret; }"), kNone);
  EXPECT_EQ(found(call, ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 x; .reg .pred c; ld.param.b32 x, [a]; setp.eq.u32 c, x, 1; @c bra L; L: st.param.b32 [r], 1; ret; }"), kRegister);
}

TEST(UnsetSharedMemory, IsReportedWhereItIsUsed) {
  const std::string load = "@%p1 st.shared.u32 [%r2], 7; bar.sync 0; ld.shared.u32 %r9, [%r2];";
  EXPECT_EQ(found(load + "add.u32 %r9, %r9, 1;" + kStore), kShared);
  EXPECT_EQ(found(load + kStore), kShared);
  EXPECT_EQ(found(load + "add.u32 %r9, %r9, 1;" + kValid), kNone);
  EXPECT_EQ(found(load + "max.u32 %r9, %r9, 1; selp.u32 %r9, %r9, 0, %p1;" + kStore), kNone);
  EXPECT_EQ(found("@%p1 st.shared.u32 [%r2], 7; bar.sync 0; red.shared.add.u32 [%r2], 1;"), kShared) << "an atomic keeps what it makes";
  EXPECT_EQ(found("st.shared.u32 [%r2], %r1; ld.shared.v2.u32 {%r9, %r10}, [%r2];" + kStore), kNone) << "the half that was written";
  EXPECT_EQ(found("st.shared.u32 [%r2], %r1; ld.shared.v2.u32 {%r10, %r9}, [%r2];" + kStore), kShared);
}

TEST(UnsetSharedMemory, IsFollowedThroughFurtherStores) {
  const std::string copy = "ld.shared.u32 %r10, [%r2]; st.shared.u32 [%r2+4], %r10; bar.sync 0;";
  EXPECT_EQ(found(copy + "ld.shared.u32 %r9, [%r3+4];" + kStore), kShared);
  EXPECT_EQ(found(copy + "st.shared.u32 [%r3+4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r2+4];" + kStore), kNone);
}

}  // namespace
}  // namespace drywell::sim
