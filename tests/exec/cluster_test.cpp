// Clusters: shared memory of other CTAs, cluster barriers, addresses.
#include <gtest/gtest.h>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

std::string cta_word(const char* reg, unsigned stride = 4, unsigned offset = 0) {
  return fmt::format(R"(
  mul.wide.u32 %rd30, rank, {};
  add.u64 %rd30, %rd30, buf0;
  st.global.b32 [%rd30+{}], {};
)",
                     stride, offset, reg);
}

// Each CTA writes into and reads its right neighbour's memory through both kinds of addresses.
TEST(Dsmem, LoadsAndStoresReachTheNeighbour) {
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {to_bytes(std::vector<uint32_t>(16))};
  c.body = fill_smem(1024) + cluster_sync() +
           R"(
  add.u32 %r1, rank, 1;
  and.b32 %r1, %r1, 3;
  mapa.shared::cluster.u32 %r2, smem, %r1;
  mov.u64 %rd1, smem;
  cvta.shared::cta.u64 %rd1, %rd1;
  mapa.u64 %rd2, %rd1, %r1;
  add.u32 %r3, rank, 100;
  @first st.shared::cluster.b32 [%r2], %r3;
  @first st.b32 [%rd2+4], %r3;
)" + cluster_sync() +
           R"(
  ld.shared.b32 %r6, [smem];
  ld.b32 %r7, [%rd1+4];
  ld.shared::cluster.b32 %r8, [%r2];
  ld.relaxed.cluster.b32 %r9, [%rd2+4];
  @!first bra END;
)" + cta_word("%r6", 16) +
           cta_word("%r7", 16, 4) + cta_word("%r8", 16, 8) + cta_word("%r9", 16, 12) + "END:\n" +
           cluster_sync();
  std::vector<uint32_t> want;
  for (uint32_t r = 0; r < 4; ++r)
    want.insert(want.end(), {(r + 3) % 4 + 100, (r + 3) % 4 + 100, r + 100, r + 100});
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// Sums in the next CTA's memory, through cluster and generic addresses, by every thread of the cluster.
TEST(Dsmem, AtomicsReachTheNeighbour) {
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.threads = 64;
  c.buffers = {to_bytes(std::vector<uint32_t>(8))};
  c.body = R"(
  mov.u32 %r1, 0;
  @first st.shared.v2.b32 [smem], {%r1, %r1};
)" + cluster_sync() +
           R"(
  add.u32 %r2, rank, 1;
  and.b32 %r2, %r2, 3;
  mapa.shared::cluster.u32 %r3, smem, %r2;
  cvt.u64.u32 %rd1, %r3;
  cvta.shared::cluster.u64 %rd2, %rd1;
  add.u32 %r4, rank, 1;
  atom.shared::cluster.add.u32 %r5, [%r3], %r4;
  red.relaxed.cluster.max.u32 [%rd2+4], %r4;
)" + cluster_sync() +
           R"(
  ld.shared.v2.b32 {%r6, %r7}, [smem];
  @!first bra END;
)" + cta_word("%r6", 8) +
           cta_word("%r7", 8, 4) + "END:\n" + cluster_sync();
  std::vector<uint32_t> want;
  for (uint32_t r = 0; r < 4; ++r) want.insert(want.end(), {64 * ((r + 3) % 4 + 1), (r + 3) % 4 + 1});
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// shared::cta is the own CTA's window, shared::cluster that of all of them (PTX ISA 9.7.9.19, 9.7.9.20).
TEST(ClusterAddresses, WindowsAndConversions) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  c.buffers = {to_bytes(std::vector<uint32_t>(2))};
  c.body = R"(
  xor.b32 %r1, rank, 1;
  mov.u64 %rd1, smem;
  cvta.shared::cta.u64 %rd1, %rd1;
  mapa.u64 %rd2, %rd1, %r1;
  isspacep.shared::cta %p1, %rd1;
  isspacep.shared::cta %p2, %rd2;
  isspacep.shared::cluster %p3, %rd2;
  isspacep.global %p4, %rd2;
  cvta.to.shared::cluster.u64 %rd3, %rd2;
  cvt.u32.u64 %r2, %rd3;
  getctarank.shared::cluster.u32 %r3, %r2;
  selp.u32 %r4, 1, 0, %p1;
  selp.u32 %r5, 2, 0, %p2;
  selp.u32 %r6, 4, 0, %p3;
  selp.u32 %r7, 8, 0, %p4;
  or.b32 %r4, %r4, %r5;
  or.b32 %r6, %r6, %r7;
  or.b32 %r4, %r4, %r6;
  shl.b32 %r3, %r3, 4;
  or.b32 %r4, %r4, %r3;
  @!first bra END;
)" + cta_word("%r4") +
           "END:\n";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), (std::vector<uint32_t>{5 + 16, 5}));
}

// docs/facts/tma-mbarrier.md §5: rank in bits 24..31; a shared::cta address is the cluster address of the own CTA.
TEST(ClusterAddresses, MapaAndGetctarank) {
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {to_bytes(std::vector<uint32_t>(4 * 4))};
  c.body = R"(
  mov.u32 %r1, smem;
  getctarank.shared::cluster.u32 %r2, %r1;
  xor.b32 %r3, rank, 3;
  mapa.shared::cluster.u32 %r4, %r1, %r3;
  getctarank.shared::cluster.u32 %r5, %r4;
  mov.u64 %rd1, smem;
  cvta.shared::cta.u64 %rd1, %rd1;
  mapa.u64 %rd2, %rd1, %r3;
  getctarank.u64 %r6, %rd2;
  sub.u32 %r7, %r4, %r1;
  shl.b32 %r8, %r3, 24;
  shl.b32 %r9, rank, 24;
  sub.u32 %r8, %r8, %r9;
  sub.u32 %r7, %r7, %r8;
  @!first bra END;
)" + cta_word("%r2", 16) +
           cta_word("%r5", 16, 4) + cta_word("%r6", 16, 8) + cta_word("%r7", 16, 12) + "END:\n";
  std::vector<uint32_t> want;
  for (uint32_t r = 0; r < 4; ++r) want.insert(want.end(), {r, r ^ 3, r ^ 3, 0});
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// Every thread writes the round's number, and behind the barrier finds it with a thread of another CTA, 16
// times over, aligned or diverged.
TEST(ClusterBarrier, NobodyPassesEarly) {
  for (const char* form : {".aligned", ".release", ".relaxed.aligned", ""}) {
    AsyncCase c;
    c.cluster = c.ctas = 4;
    c.threads = 96;
    c.buffers = {to_bytes(std::vector<uint32_t>(4 * 96, 77))};
    const bool aligned = std::string(form).ends_with("aligned");
    c.body = R"(
  shl.b32 %r1, tid, 2;
  mov.u32 %r2, smem;
  add.u32 %r1, %r1, %r2;
  add.u32 %r3, rank, 1;
  and.b32 %r3, %r3, 3;
  add.u32 %r4, tid, 37;
  rem.u32 %r4, %r4, 96;
  shl.b32 %r4, %r4, 2;
  add.u32 %r4, %r4, %r2;
  mapa.shared::cluster.u32 %r4, %r4, %r3;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
  and.b32 %r7, tid, 1;
  setp.eq.u32 %p1, %r7, 0;
LOOP: add.u32 %r5, %r5, 1;
  st.shared.b32 [%r1], %r5;
)" + std::string(aligned ? "" : R"(
  @%p1 bra EVEN;
  add.u32 %r8, %r5, 1;
  barrier.cluster.arrive.release;
  barrier.cluster.wait;
  bra JOIN;
EVEN:
)") +
             fmt::format(R"(
  barrier.cluster.arrive{};
  barrier.cluster.wait{};
JOIN:
)",
                         form, aligned ? ".acquire.aligned" : ".acquire") +
             R"(
  ld.shared::cluster.u32 %r9, [%r4];
  setp.ne.u32 %p2, %r9, %r5;
  selp.u32 %r10, 1, 0, %p2;
  add.u32 %r6, %r6, %r10;
)" + cluster_sync() +
             R"(
  setp.lt.u32 %p3, %r5, 16;
  @%p3 bra LOOP;
  mad.lo.u32 %r11, rank, 96, tid;
  mul.wide.u32 %rd1, %r11, 4;
  add.u64 %rd1, %rd1, buf0;
  st.global.b32 [%rd1], %r6;
)" + cluster_sync();
    EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), std::vector<uint32_t>(4 * 96)) << form;
  }
}

// Threads that have exited need not arrive, those that arrived and exited do not count for others.
TEST(ClusterBarrier, ExitedThreadsNeedNotArrive) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  c.threads = 96;
  c.buffers = {to_bytes(std::vector<uint32_t>(2))};
  // Warp 2 exits immediately, warp 1 arrives and exits, warp 0 executes other instructions before it arrives.
  c.body = R"(
  setp.ge.u32 %p1, tid, 64;
  @%p1 exit;
  setp.ge.u32 %p2, tid, 32;
  @!%p2 bra WORK;
  barrier.cluster.arrive;
  exit;
WORK: mov.u32 %r1, 0;
  SPIN: add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 300;
  @%p3 bra SPIN;
  add.u32 %r2, rank, 7;
  @first st.shared.b32 [smem], %r2;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  xor.b32 %r3, rank, 1;
  mapa.shared::cluster.u32 %r4, smem, %r3;
  ld.shared::cluster.b32 %r5, [%r4];
  @!first bra END;
)" + cta_word("%r5") +
           R"(
END: barrier.cluster.arrive;
  barrier.cluster.wait;
)";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), (std::vector<uint32_t>{8, 7}));
}

// CuTe maps an address for every lane and uses those of the lanes that have a peer.
TEST(ClusterFaults, AnAddressOfNoCtaThatNobodyUsesIsNone) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  c.body = "  mapa.shared::cluster.u32 %r1, smem, tid;\n";
  run_everywhere(c);
}

TEST(ClusterFaults, AreReportedUnderEveryDriver) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  const auto fault = [&](const std::string& text, Code code) {
    c.body = text;
    expect_fault(c, code);
  };
  fault(R"(
  barrier.cluster.arrive;
  barrier.cluster.arrive;
)",
        Code::F3504);
  fault("  barrier.cluster.wait;\n", Code::F3505);
  fault("  mapa.shared::cluster.u32 %r1, smem, 2;\n  ld.shared::cluster.u32 %r2, [%r1];\n", Code::F3502);
  fault("  mapa.shared::cluster.u32 %r1, smem, 300;\n  st.shared::cluster.u32 [%r1], 1;\n", Code::F3502);
  fault(R"(
  mov.u64 %rd1, 4096;
  getctarank.u64 %r1, %rd1;
)",
        Code::F3506);
  fault(R"(
  mov.u32 %r1, smem;
  or.b32 %r1, %r1, 0x9000000;
  ld.shared::cluster.b32 %r2, [%r1];
)",
        Code::F3502);
  fault(R"(
  setp.eq.u32 %p1, rank, 0;
  @%p1 bra END;
  barrier.cluster.arrive;
  mov.u32 %r1, 0;
SPIN: bar.sync 1, 64;
END:
)",
        Code::F3403);
  c.threads = 64;  // half of the cluster never arrives and never leaves
  fault(R"(
  setp.lt.u32 %p1, tid, 32;
  @%p1 bra WAIT;
  bar.sync 1, 64;
WAIT: barrier.cluster.arrive;
  barrier.cluster.wait;
)",
        Code::F3601);
}

TEST(ClusterLegality, AgreesWithPtxas) {
  expect_illegal("barrier.cluster.arrive.acquire", Code::E1101);
  expect_illegal("barrier.cluster.wait.relaxed", Code::E1101);
  expect_illegal("barrier.cluster.wait.release", Code::E1101);
  expect_illegal("getctarank.shared::cta.u32 %r1, %r2", Code::E1101);
  expect_legal("mapa.u64 %rd1, %rd2, %r1", "sm_90a");
  expect_legal("mapa.u32 %r3, %r2, 1", "sm_90a");
  expect_legal("getctarank.u32 %r1, %r2", "sm_90a");
  expect_legal("barrier.cluster.wait.acquire", "sm_90a");
}

}  // namespace
}  // namespace drywell::test
