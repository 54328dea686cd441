// Behaviour that PTX leaves undefined and that the execution of an instruction can detect is a fault with its own code, under every
// driver: barriers, mbarriers, tensor memory, warp-wide instructions by part of a warp, calls into the runtime.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/async_run.h"

namespace drywell::test {
namespace {

void expect_misuse(const std::string& body, Code code, uint32_t threads = 32, const char* target = "sm_100a") {
  SCOPED_TRACE(body);
  AsyncCase c;
  c.body = body;
  c.threads = threads;
  c.target = target;
  expect_fault(c, code);
}

TEST(Misuse, NamedBarriers) {
  expect_misuse("mov.u32 %r1, 16;\nbar.sync %r1;\n", Code::F3402);
  expect_misuse("mov.u32 %r1, 48;\nbar.sync 1, %r1;\n", Code::F3403, 96);
  expect_misuse("setp.lt.u32 %p1, tid, 32;\nselp.b32 %r1, 64, 96, %p1;\nbar.sync 1, %r1;\n", Code::F3404, 96);
  expect_misuse("setp.lt.u32 %p1, tid, 16;\n@%p1 bar.warp.sync 0xFFFF0000;\n", Code::F3401);
  expect_misuse("and.b32 %r1, tid, 1;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 shfl.sync.idx.b32 %r2, %r1, 3, 31, 0x55555555;\n", Code::F3401);  // an H100: illegal instruction
}

TEST(Misuse, AlignedInstructionsByPartOfAWarp) {
  const std::string half = "setp.lt.u32 %p1, tid, 16;\n";
  expect_misuse(half + "@%p1 bar.sync 0;\n", Code::F3406);
  expect_misuse(half + "@%p1 barrier.cluster.arrive.aligned;\n", Code::F3406);
  expect_misuse(half + "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar], 32;\n", Code::F3406);
  expect_misuse(half + "@%p1 tcgen05.wait::ld.sync.aligned;\n", Code::F3406);
  expect_misuse(half + "@%p1 exit;\ntcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n", Code::F3406);
}

TEST(Misuse, Mbarriers) {
  const std::string init = "@!first bra END;\nmbarrier.init.shared::cta.b64 [bar], 2;\n";
  expect_misuse(init + "mov.u32 %r1, 0;\nmbarrier.arrive.shared::cta.b64 _, [bar], %r1;\nEND:\n", Code::F3103);
  expect_misuse(init + "mov.u32 %r1, 0;\nmbarrier.arrive_drop.shared::cta.b64 _, [bar], %r1;\nEND:\n", Code::F3103);
  expect_misuse(init + "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd1, [bar], 2;\nEND:\n", Code::F3107);
  expect_misuse("mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n", Code::F3102);
  expect_misuse("mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar+4], 0;\n", Code::F3101);
}

TEST(Misuse, WaitsAreForTheOwnCtasMbarriers) {
  AsyncCase c;
  c.ctas = c.cluster = 2;
  c.body = "@first mbarrier.init.shared::cta.b64 [bar], 1;\n" + cluster_sync() +
           "mov.u32 %r1, bar;\nxor.b32 %r2, rank, 1;\nmapa.shared::cluster.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd1, %r3;\ncvta.shared::cluster.u64 %rd1, %rd1;\n"
           "mbarrier.test_wait.parity.b64 %p1, [%rd1], 0;\n" +
           cluster_sync();
  expect_fault(c, Code::F3101);
}

TEST(Misuse, TensorMemoryAddressesDifferBetweenLanes) {
  const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar], 32;\nld.shared.b32 %r1, [bar];\n", own = "add.u32 %r2, %r1, tid;\n";
  expect_misuse(alloc + own + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2];\n", Code::F3206);
  expect_misuse(alloc + own + "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r3};\n", Code::F3206);
  expect_misuse(alloc + own + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;\n", Code::F3206);
}

TEST(Misuse, TensorMemoryOutsideTheAllocation) {
  const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar], 32;\nld.shared.b32 %r1, [bar];\n";
  expect_misuse(alloc + "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1+31];\n", Code::F3210);
  expect_misuse(alloc + "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r2}, [%r1], 32;\n", Code::F3210);
  expect_misuse(alloc + "mov.u32 %r2, 0;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r1+32], {%r2};\n", Code::F3210);
  expect_misuse("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [0];\n", Code::F3210);
}

TEST(Misuse, CommitsToWhatIsNoMbarrier) {
  const std::string commit = "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster";
  expect_misuse(commit + ".b64 [bar];\nnanosleep.u32 1000;\nbar.sync 0;\n", Code::F3102);
  expect_misuse("mov.b16 %h1, 2;\n@first mbarrier.init.shared::cta.b64 [bar], 1;\n" + commit + ".multicast::cluster.b64 [bar], %h1;\nnanosleep.u32 1000;\nbar.sync 0;\n", Code::F3501);
}

TEST(Misuse, Warpgroups) {
  const std::string product = "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  const std::string scale_d = "setp.eq.u32 %p1, %r0, %r0;\n", zero = "mov.b64 %rd1, 0;\nmov.b64 %rd2, 0;\n";
  expect_misuse(scale_d + zero + "cvt.u64.u32 %rd1, tid;\n" + product, Code::F3221, 128, "sm_90a");
  expect_misuse("setp.lt.u32 %p1, tid, 48;\n" + zero + product, Code::F3221, 128, "sm_90a");
  expect_misuse(scale_d + zero + "mov.b64 %rd1, 0x3FFF;\n" + product, Code::F3222, 128, "sm_90a");
}

TEST(Misuse, FragmentsOfDifferentMatrices) {
  expect_misuse("mov.u32 %r1, smem;\nshl.b32 %r2, tid, 4;\nadd.u32 %r1, %r1, %r2;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r2, %r3, %r4, %r5}, [%r1], 16;\n", Code::F3408);
}

TEST(Misuse, CallsIntoTheRuntime) {
  AsyncCase c;
  c.declarations =
      ".extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);\n"
      ".extern .func __assertfail (.param .b64 m, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);\n.global .align 1 .b8 text[4] = {37, 115, 10, 0};\n";
  c.body = "{\n.param .b64 x;\n.param .b64 z;\n.param .b32 y;\nmov.b64 %rd1, 0x123456789AB8;\nst.param.b64 [x], %rd1;\nst.param.b64 [z], 0;\ncall (y), vprintf, (x, z);\n}\n";
  expect_fault(c, Code::F3007);
  c.body =
      "{\n.param .b64 m;\n.param .b64 f;\n.param .b32 l;\n.param .b64 g;\n.param .b64 s;\nmov.b64 %rd1, text;\ncvta.global.u64 %rd1, %rd1;\nst.param.b64 [m], %rd1;\nst.param.b64 [f], %rd1;\n"
      "st.param.b32 [l], 7;\nst.param.b64 [g], %rd1;\nst.param.b64 [s], 1;\ncall __assertfail, (m, f, l, g, s);\n}\n";
  expect_fault(c, Code::F3702);
  expect_misuse("trap;\n", Code::F3701);
  expect_misuse("brkpt;\n", Code::F3704);
}

}  // namespace
}  // namespace drywell::test
