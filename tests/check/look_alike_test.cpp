// Idioms of real kernels that look like hazards and are correct: the checker must not report them.
#include <gtest/gtest.h>

#include <algorithm>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

const std::string kBarriers = R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  @first mbarrier.init.shared::cta.b64 [bar+16], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";

// Operands in shared memory by a bulk copy, 32 columns of tensor memory, descriptors (128 x 16 by 16 x 16 of bf16, no swizzle).
const std::string kOperands = R"(
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+32], 32;
  ld.shared.b32 %r2, [bar+32];
  mov.u32 %r1, smem;
  shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %rd1, %r1;
  or.b64 %rd1, %rd1, 0x0000401000080000;
  add.u64 %rd2, %rd1, 256;
  mov.u32 %r3, 0x08040490;
  setp.ne.u32 %p3, %r3, %r3;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4608;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 4608, [bar];
)" + wait_for("[bar]", 0);

const std::string kProduct = "@first tcgen05.mma.cta_group::1.kind::f16 [%r2], %rd1, %rd2, %r3, %p3;\n";
const std::string kCommit = "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8];\n";
const std::string kFree = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;\n";

/// No finding but notes of the code `note`.
void expect_silence(AsyncCase c, sim::CheckLevel level = sim::CheckLevel::full, const std::string& note = "") {
  c.buffers = {Bytes(16384)};
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 4}, {sim::DriverKind::timed, 0}}) {
    sim::HazardChecker checker({.level = level});
    const AsyncRun r = run_async(c, {.driver = driver, .seed = static_cast<uint64_t>(seed), .max_instructions = 1'000'000, .listeners = {checker.listener()}});
    EXPECT_TRUE(r.result.ok()) << r.result.fault->to_string();
    for (const sim::Finding& f : checker.findings())
      if (f.code != note || f.level != sim::HazardLevel::note) ADD_FAILURE() << sim::driver_name(driver) << ": " << f.to_string();
  }
}

// CUTLASS epilogues convert the registers of a load while the next load is under way; the one wait::ld comes before the release.
TEST(LookAlike, RegistersOfALoadUsedBeforeWaitLd) {
  AsyncCase c;
  c.body = kBarriers + kOperands + kProduct + kCommit + wait_for("[bar+8]", 0) + R"(
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r2];
  add.u32 %r11, %r2, 1;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r11];
  add.u32 %r13, %r10, %r12;
  tcgen05.wait::ld.sync.aligned;
)" + kFree;
  expect_silence(c, sim::CheckLevel::full, "H7218");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// Triton takes the word of tcgen05.alloc from the memory of the operands: all read it behind a barrier, and then a copy overwrites it.
TEST(LookAlike, OperandsOverTheWordOfAlloc) {
  AsyncCase c;
  c.threads = 64;
  const std::string operands = replaced(replaced(kOperands, "[bar+32]", "[smem]"), "tcgen05.alloc", "@%p2 tcgen05.alloc");
  c.body = kBarriers + "setp.lt.u32 %p2, tid, 32;\n" + replaced(operands, "ld.shared.b32 %r2, [smem];", "bar.sync 0;\nld.shared.b32 %r2, [smem];\nbar.sync 0;") + kProduct + kCommit +
           wait_for("[bar+8]", 0) + "@%p2 " + kFree;
  expect_silence(c);
}

// CUTLASS's example 112: a warp that has issued products tells two consumers of them, by a commit each, while another warp's product is in flight.
TEST(LookAlike, TwoCommitsOfTheSameProducts) {
  AsyncCase c;
  c.threads = 64;
  c.body = kBarriers + "@first mbarrier.init.shared::cta.b64 [bar+24], 1;\nfence.mbarrier_init.release.cluster;\nsetp.lt.u32 %p2, tid, 32;\nbar.sync 0;\n" +
           replaced(replaced(kOperands, "tcgen05.alloc", "@%p2 tcgen05.alloc"), "ld.shared.b32 %r2, [bar+32];", "bar.sync 0;\nld.shared.b32 %r2, [bar+32];") + R"(
  add.u32 %r4, %r2, 16;
  setp.eq.u32 %p4, tid, 32;
  @%p4 tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r3, %p3;
  bar.sync 0;
)" + kProduct +
           kCommit +
           replaced(kCommit, "[bar+8]", "[bar+16]") + "@%p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+24];\n" + wait_for("[bar+8]", 0) + wait_for("[bar+16]", 0) +
           wait_for("[bar+24]", 0) + "bar.sync 0;\n@%p2 " + kFree;
  expect_silence(c);
}

// The same across a cluster: a relaxed barrier is between the uses of the word and the peer's copy.
TEST(LookAlike, APeersCopyOverTheWordOfAlloc) {
  AsyncCase c;
  c.threads = 64;
  c.ctas = c.cluster = 2;
  c.body = R"(
  setp.lt.u32 %p2, tid, 32;
  @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 32;
  bar.sync 0;
  ld.shared.b32 %r2, [smem];
  bar.sync 0;
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.aligned;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  mov.u16 %h1, 3;
  @leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [buf0], 512, [bar], %h1;
)" + wait_for("[bar]", 0) +
           cluster_sync() + "@%p2 " + kFree;
  expect_silence(c);
}

// Each half of a warp waits for its own copy and reads its own data; under lazy and shuffled the halves pass their waits one after the other.
TEST(LookAlike, HalvesOfAWarpWithABarrierEach) {
  AsyncCase c;
  c.body = kBarriers + R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem+512], [buf0], 512, [bar+8];
  bar.warp.sync -1;
  shr.u32 %r1, tid, 4;
  shl.b32 %r2, %r1, 3;
  mov.u32 %r3, bar;
  add.u32 %r2, %r2, %r3;
  shl.b32 %r4, %r1, 9;
  mov.u32 %r5, smem;
  add.u32 %r4, %r4, %r5;
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  ld.shared.b32 %r6, [%r4];
  st.shared.b32 [%r4], %r1;
)";
  expect_silence(c);
}

// Lanes 0 and 16 copy from their own halves, wait for their own groups, and write their own halves again.
TEST(LookAlike, TwoLanesWithBulkGroupsOfTheirOwn) {
  AsyncCase c;
  c.body = R"(
  and.b32 %r1, tid, 15;
  setp.eq.u32 %p2, %r1, 0;
  shl.b32 %r2, tid, 3;
  mov.u32 %r3, smem;
  add.u32 %r2, %r2, %r3;
  @%p2 st.shared.v4.b32 [%r2], {tid, tid, tid, tid};
  fence.proxy.async.shared::cta;
  mul.wide.u32 %rd1, tid, 8;
  add.u64 %rd1, %rd1, buf0;
  @%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;
  @%p2 cp.async.bulk.commit_group;
  setp.eq.u32 %p3, tid, 0;
  setp.eq.u32 %p4, tid, 16;
  @%p3 cp.async.bulk.wait_group.read 0;
  @%p4 cp.async.bulk.wait_group.read 0;
  @%p2 st.shared.b32 [%r2], 0;
  cp.async.bulk.wait_group 0;
)";
  expect_silence(c);
}

// A half reads the data of the other half's wait.
TEST(LookAlike, AHalfThatReadsBehindTheOthersWaitIsReported) {
  AsyncCase c;
  c.buffers = {Bytes(16384)};
  c.body = kBarriers + R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
  bar.warp.sync -1;
  setp.lt.u32 %p2, tid, 16;
  @!%p2 bra READ;
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra WAIT;
  READ: ld.shared.b32 %r6, [smem];
)";
  sim::HazardChecker checker;
  run_async(c, {.listeners = {checker.listener()}});
  const auto all = checker.findings();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const sim::Finding& f) { return f.code == "H7405" || f.code == "H7001"; }));
}

// The barrier at the end is relaxed: it keeps the CTAs alive until all arrivals are made.
TEST(LookAlike, ArrivalsAtPeersInFrontOfARelaxedBarrier) {
  AsyncCase c;
  c.ctas = c.cluster = 2;
  c.body = kBarriers + cluster_sync() + R"(
  mov.u32 %r4, bar;
  xor.b32 %r5, rank, 1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  @first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.aligned;
)";
  expect_silence(c);
}

// An operand that nothing writes contains that word: it is unwritten, and no store is missing a fence.
TEST(LookAlike, TheWordOfAllocIsNoOperand) {
  AsyncCase c;
  c.buffers = {Bytes(16384)};
  const std::string operands = replaced(kOperands, "[bar+32]", "[smem]");
  c.body = kBarriers + operands.substr(0, operands.find("@first mbarrier")) + kProduct + kCommit + wait_for("[bar+8]", 0) + kFree;
  sim::HazardChecker checker;
  run_async(c, {.listeners = {checker.listener()}});
  ASSERT_FALSE(checker.findings().empty());
  for (const sim::Finding& f : checker.findings()) EXPECT_EQ(f.code, "H7501") << f.to_string();
}

// A ring of two stages filled by plain bulk copies: full and empty mbarriers, phases by parity, no other synchronisation.
TEST(LookAlike, RingOfBulkCopies) {
  AsyncCase c;
  c.threads = 64;
  c.body = R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  @first mbarrier.init.shared::cta.b64 [bar+16], 32;
  @first mbarrier.init.shared::cta.b64 [bar+24], 32;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %r1, 0;
  mov.u32 %r8, bar;
  mov.u32 %r9, smem;
  setp.ge.u32 %p2, tid, 32;
  NEXT: and.b32 %r2, %r1, 1;
  shl.b32 %r3, %r2, 3;
  add.u32 %r3, %r3, %r8;
  shr.u32 %r4, %r1, 1;
  and.b32 %r4, %r4, 1;
  xor.b32 %r5, %r4, 1;
  shl.b32 %r6, %r2, 10;
  add.u32 %r6, %r6, %r9;
  @%p2 bra CONSUME;
  EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3+16], %r5;
  @!%p1 bra EMPTY;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [buf0], 1024, [%r3];
  bra OVER;
  CONSUME: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], %r4;
  @!%p1 bra CONSUME;
  ld.shared.b32 %r7, [%r6];
  mbarrier.arrive.shared::cta.b64 _, [%r3+16];
  OVER: add.u32 %r1, %r1, 1;
  setp.lt.u32 %p4, %r1, 9;
  @%p4 bra NEXT;
)";
  expect_silence(c);
}

// The arrival of a commit implies fence::before_thread_sync.
TEST(LookAlike, CommitWithoutBeforeThreadSync) {
  AsyncCase c;
  c.body = kBarriers + kOperands + kProduct + kCommit + wait_for("[bar+8]", 0) + R"(
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r2];
  tcgen05.wait::ld.sync.aligned;
)" + kFree;
  expect_silence(c);
}

// cp and mma of one thread pipeline: no commit, no wait between them.
TEST(LookAlike, CopyThenProductOfOneThread) {
  AsyncCase c;
  c.body = kBarriers + kOperands + R"(
  add.u32 %r5, %r2, 16;
  @first tcgen05.cp.cta_group::1.128x256b [%r5], %rd1;
  @first tcgen05.mma.cta_group::1.kind::f16 [%r2], [%r5], %rd2, %r3, %p3;
)" + kCommit +
           wait_for("[bar+8]", 0) + kFree;
  expect_silence(c);
}

// The phase cannot complete before the arrival, so that the count may come after the copy was issued.
TEST(LookAlike, ExpectTxAfterTheCopy) {
  AsyncCase c;
  c.body = kBarriers + R"(
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
)" + wait_for("[bar]", 0) +
           R"(
  ld.shared.b32 %r4, [smem];
)";
  expect_silence(c);
}

// Both CTAs of a pair copy into their own shared memory and arrive on the lead CTA's mbarrier; only the lead CTA waits on it.
TEST(LookAlike, PairCopiesArriveOnTheLeadCta) {
  AsyncCase c;
  isa::TensorMapFields f;
  f.type = isa::TensorType::bf16;
  f.rank = 2;
  f.dim = {64, 64};
  f.stride = {128};
  f.box = {64, 16};
  f.swizzle = isa::Swizzle::b128;
  c.maps = {{f, 0}};
  c.ctas = c.cluster = 2;
  c.body = kBarriers + cluster_sync() + R"(
  mov.u32 %r5, bar;
  and.b32 %r6, %r5, 0xFEFFFFFF;
  mov.b32 %r20, 0;
  @leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;
  @first cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [smem], [map0, {%r20, %r20}], [%r6];
  setp.eq.u32 %p2, rank, 0;
  @!%p2 bra OVER;
)" + wait_for("[bar]", 0) +
           "OVER:\n" + cluster_sync();
  expect_silence(c);
}

// A flag in shared memory orders the uses of tensor memory by two warps; the basic level must follow it, too.
TEST(LookAlike, TensorMemoryBehindAFlag) {
  AsyncCase c;
  c.threads = 64;
  c.body = R"(
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra WARMED;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+32], 32;
  WARMED: @first st.shared.b32 [bar+48], 0;
  bar.sync 0;
  ld.shared.b32 %r2, [bar+32];
  mov.u32 %r3, 7;
  @%p2 bra SECOND;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r3};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.warp.sync -1;
  @first st.release.cta.shared::cta.b32 [bar+48], 1;
  bar.sync 1, 64;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
  bra END;
  SECOND: ld.acquire.cta.shared::cta.b32 %r4, [bar+48];
  setp.eq.u32 %p3, %r4, 0;
  @%p3 bra SECOND;
  tcgen05.fence::after_thread_sync;
  setp.eq.u32 %p4, tid, 32;
  @%p4 tcgen05.shift.cta_group::1.down [%r2];
  @%p4 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
  bar.warp.sync -1;
)" + wait_for("[bar]", 0) +
           R"(
  bar.sync 1, 64;
  END: bar.warp.sync -1;
)";
  expect_silence(c, sim::CheckLevel::basic);
}

// Each CTA waits for the one before it: a relaxed counter between fences, as a grid-wide barrier has.
TEST(LookAlike, CtasOrderedByFencesAroundACounter) {
  AsyncCase c;
  c.ctas = 4;
  c.threads = 64;
  c.body = R"(
  mul.wide.u32 %rd1, cta, 256;
  add.u64 %rd1, %rd1, buf0;
  setp.eq.u32 %p2, cta, 0;
  @%p2 bra WORK;
  @!first bra MEET;
  WAIT: ld.relaxed.gpu.global.b32 %r1, [buf0+4096];
  setp.lt.u32 %p1, %r1, cta;
  @%p1 bra WAIT;
  fence.acq_rel.gpu;
  MEET: bar.sync 0;
  ld.global.b32 %r2, [%rd1+-256];
  WORK: mul.wide.u32 %rd2, tid, 4;
  add.u64 %rd2, %rd2, %rd1;
  st.global.b32 [%rd2], tid;
  bar.sync 0;
  @!first bra END;
  fence.acq_rel.gpu;
  red.relaxed.gpu.global.add.u32 [buf0+4096], 1;
  END: bar.sync 0;
)";
  expect_silence(c);
}

// Triton repeats data over warps, and every warp stores its copy.
TEST(LookAlike, TwoWarpsStoreTheSameValues) {
  AsyncCase c;
  c.threads = 64;
  c.body = R"(
  and.b32 %r1, tid, 31;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, smem;
  add.u32 %r2, %r2, %r3;
  st.shared.b32 [%r2], %r1;
  cvt.u16.u32 %h1, %r1;
  st.shared.v2.b16 [%r2+128], {%h1, 7};
  shl.b32 %r4, %r1, 4;
  add.u32 %r4, %r4, %r3;
  stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r4+512], {%r1, %r1, %r1, %r1};
)";
  expect_silence(c);
}

constexpr const char* kPlaces = "shl.b32 %r1, tid, 2;\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd1, %rd1, buf0;\n";

// A flag that every CTA sets, and results that all compute (Triton's test_num_programs and test_clamp).
TEST(LookAlike, AllCtasStoreTheSameValues) {
  AsyncCase c;
  c.threads = 64;
  c.ctas = 3;
  c.body = std::string(kPlaces) + R"(
  @first st.global.b32 [buf0+1024], 1;
  mul.lo.u32 %r2, tid, 3;
  cvt.u16.u32 %h1, %r2;
  st.global.v2.b32 [buf0+2048], {7, 8};
  st.global.b16 [%rd1], %h1;
  mov.u32 %r3, 0;
  mov.u64 %rd2, buf0;
  AGAIN: st.global.b32 [%rd2+4096], %r3;
  add.u64 %rd2, %rd2, 4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 5;
  @%p1 bra AGAIN;
)";
  expect_silence(c);
}

std::vector<std::string> codes_of_ctas(const std::string& body) {
  AsyncCase c;
  c.threads = 32;
  c.ctas = 3;
  c.buffers = {Bytes(16384)};
  c.body = kPlaces + body;
  sim::HazardChecker checker({.level = sim::CheckLevel::full});
  run_async(c, {.listeners = {checker.listener()}});
  std::vector<std::string> codes;
  for (const sim::Finding& f : checker.findings()) codes.push_back(f.code);
  return codes;
}

TEST(LookAlike, CtasThatStoreOtherValuesAreReported) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(codes_of_ctas("@first st.global.b32 [buf0], cta;\n"), Codes{"H7402"});
  EXPECT_EQ(codes_of_ctas("add.u32 %r2, tid, cta;\nst.global.b32 [%rd1], %r2;\n"), Codes{"H7402"});
  // The first lanes agree, and the first of several rounds.
  EXPECT_EQ(codes_of_ctas("mul.lo.u32 %r2, tid, cta;\nst.global.b32 [%rd1], %r2;\n"), Codes{"H7402"});
  EXPECT_EQ(codes_of_ctas(R"(
  mov.u32 %r3, 0;
  mov.u64 %rd2, buf0;
  AGAIN: mul.lo.u32 %r4, %r3, cta;
  @first st.global.b32 [%rd2], %r4;
  add.u64 %rd2, %rd2, 4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 5;
  @%p1 bra AGAIN;
)"),
            Codes{"H7402"});
}

// All keep 5, as it happens: one that reads before another has stored may put back less than 5.
TEST(LookAlike, CtasThatKeepTheLargerValueAreReported) {
  const auto codes = codes_of_ctas("@first ld.global.b32 %r2, [buf0];\nmax.u32 %r2, %r2, 5;\n@first st.global.b32 [buf0], %r2;\n");
  EXPECT_NE(std::find(codes.begin(), codes.end(), "H7402"), codes.end());
}

// Triton packs the one value it has with a register that nothing has written, and uses its part of the result.
TEST(LookAlike, PacksOfAValueAndNothing) {
  AsyncCase c;
  c.body = R"(
  cvt.u16.u32 %h1, tid;
  mov.b32 %r1, {%h1, %h2};
  and.b32 %r1, %r1, 0xFFFF;
  cvt.rn.f32.u32 %r2, tid;
  cvt.rn.satfinite.e4m3x2.f32 %h3, %r3, %r2;
  cvt.u32.u16 %r4, %h3;
  and.b32 %r4, %r4, 255;
  @first st.shared.b32 [smem], %r1;
  @first st.shared.b32 [smem+4], %r4;
)";
  expect_silence(c, sim::CheckLevel::full);
}

TEST(LookAlike, PacksOfNothingAreReported) {
  for (const char* body : {"mov.b32 %r1, {%h1, %h2};\nadd.u32 %r1, %r1, 1;\n", "cvt.rn.satfinite.e4m3x2.f32 %h3, %r3, %r2;\ncvt.u32.u16 %r4, %h3;\n", "mov.u32 %r2, 1;\nadd.u32 %r1, %r2, %r3;\n"}) {
    AsyncCase c;
    c.body = std::string(body) + "@first st.global.v2.u32 [buf0], {%r1, %r4};\n";
    c.buffers = {Bytes(16384)};
    sim::HazardChecker checker({.level = sim::CheckLevel::full});
    run_async(c, {.listeners = {checker.listener()}});
    ASSERT_EQ(checker.findings().size(), 1u) << body;
    EXPECT_EQ(checker.findings()[0].code, "H7502");
  }
}

/// Warps 0 and 4, which have the same lanes of tensor memory, store there without an order between them.
AsyncCase two_stores_to_tensor_memory(const std::string& value) {
  AsyncCase c;
  c.threads = 160;
  c.body = R"(
  setp.lt.u32 %p2, tid, 32;
  @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+32], 32;
  bar.sync 0;
  ld.shared.b32 %r2, [bar+32];
  shr.u32 %r4, tid, 5;
  and.b32 %r5, %r4, 3;
  setp.ne.u32 %p3, %r5, 0;
  @%p3 bra OVER;
  and.b32 %r3, tid, 31;
)" + value +
           R"(
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r3};
  tcgen05.wait::st.sync.aligned;
  OVER: bar.warp.sync -1;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
)" + "@%p2 " +
           kFree;
  return c;
}

// Triton's second warpgroup stores the scale factors that the first one stores, too (test_mxfp with eight warps).
TEST(LookAlike, TwoWarpsStoreTheSameToTensorMemory) { expect_silence(two_stores_to_tensor_memory("")); }

TEST(LookAlike, TwoWarpsThatStoreOtherValuesToTensorMemoryAreReported) {
  AsyncCase c = two_stores_to_tensor_memory("add.u32 %r3, %r3, %r4;\n");
  c.buffers = {Bytes(16384)};
  sim::HazardChecker checker({.level = sim::CheckLevel::full});
  run_async(c, {.listeners = {checker.listener()}});
  ASSERT_EQ(checker.findings().size(), 1u);
  EXPECT_EQ(checker.findings()[0].code, "H7204");
}

TEST(LookAlike, TwoWarpsThatStoreOtherValuesAreReported) {
  AsyncCase c;
  c.threads = 64;
  c.buffers = {Bytes(16384)};
  c.body = "st.shared.b32 [smem], 7;\nshr.u32 %r1, tid, 5;\nst.shared.b32 [smem+4], %r1;\n";
  sim::HazardChecker checker({.level = sim::CheckLevel::full});
  run_async(c, {.listeners = {checker.listener()}});
  ASSERT_EQ(checker.findings().size(), 1u);
  EXPECT_EQ(checker.findings()[0].code, "H7401");
}

// Triton and CuTe give each role of a warpgroup its own copy of the instruction.
TEST(LookAlike, OneNumberOfRegistersAtTwoPlaces) {
  AsyncCase c;
  c.threads = 128;
  c.body = R"(
  setp.ge.u32 %p2, tid, 64;
  @%p2 bra SECOND;
  setmaxnreg.dec.sync.aligned.u32 40;
  setmaxnreg.dec.sync.aligned.u32 40;
  bra OVER;
  SECOND: setmaxnreg.dec.sync.aligned.u32 40;
  setmaxnreg.dec.sync.aligned.u32 40;
  OVER: bar.sync 0;
)";
  expect_silence(c, sim::CheckLevel::basic);
}

// The address that tcgen05.alloc stored has been read behind a barrier: a copy into its place comes after it.
TEST(LookAlike, AnObservedStoreIsOverwrittenByACopy) {
  AsyncCase c;
  c.threads = 64;
  c.body = kBarriers + R"(
  @first st.shared.b32 [smem], 7;
  bar.sync 0;
  ld.shared.b32 %r2, [smem];
  bar.sync 0;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
)" + wait_for("[bar]", 0);
  expect_silence(c);
}

}  // namespace
}  // namespace drywell::test
