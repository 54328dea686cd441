// Cluster launch control, dependent grids, register accounting.
#include <gtest/gtest.h>

#include <numeric>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

// A persistent kernel: processes its own CTA's item, then those of clusters that it cancels, until none is
// left. Each item counts its visits, which must be 1.
std::string persistent(bool multicast, uint32_t cluster) {
  const std::string form = multicast ? ".multicast::cluster::all" : "";
  return init_bar() + (cluster > 1 ? cluster_sync() : "") +
         R"(
  mov.u32 %r1, %ctaid.x;
  sub.u32 %r1, %r1, rank;
  mov.u32 %r2, 0;
WORK: add.u32 %r3, %r1, rank;
  mul.wide.u32 %rd1, %r3, 4;
  add.u64 %rd1, %rd1, buf0;
  @first red.async.release.gpu.global.add.u32 [%rd1], 1;
  @first mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;
)" + (cluster > 1 ? cluster_sync() : "") +
         fmt::format(
             "  @{} clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 "
             "[smem], [bar];\n",
             multicast ? "leader" : "first", form) +
         R"(
  { .reg .pred done;
  AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], %r2;
  @!done bra AGAIN; }
  xor.b32 %r2, %r2, 1;
  ld.shared.b128 %q1, [smem];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;
)" + (cluster > 1 ? cluster_sync() : "  bar.sync 0;\n") +
         R"(
  @!%p1 bra END;
  clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r4, %r5, _}, %q1;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r6, %q1;
  sub.u32 %r6, %r6, %r1;
  add.u32 %r4, %r4, %r5;
  add.u32 %r6, %r6, %r4;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 trap;
  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
  fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
  bra WORK;
END:
)";
}

TEST(ClusterLaunchControl, EveryItemIsDoneOnce) {
  for (const auto& [multicast, cluster] : {std::pair{false, 1u}, {true, 1u}, {true, 2u}, {true, 4u}}) {
    AsyncCase c;
    c.ctas = 40;
    c.cluster = cluster;
    c.buffers = {to_bytes(std::vector<uint32_t>(40))};
    c.body = persistent(multicast, cluster);
    EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), std::vector<uint32_t>(40, 1))
        << multicast << " " << cluster;
  }
}

// The CTA that processes an item may differ, so this is a separate test: with more items than resident CTAs, a CTA
// processes items of other CTAs.
TEST(ClusterLaunchControl, CtasStealWork) {
  for (const auto driver :
       {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
    AsyncCase c;
    c.ctas = 600;
    c.dynamic_smem = 200 * 1024;
    c.buffers = {to_bytes(std::vector<uint32_t>(600)), to_bytes(std::vector<uint32_t>(1))};
    c.body = "  @first red.async.release.gpu.global.add.u32 [buf1], 1;\n" + persistent(false, 1);
    const AsyncRun run = run_async(c, driver, 1);
    ASSERT_TRUE(run.result.ok()) << run.result.fault->to_string();
    EXPECT_EQ(from_bytes<uint32_t>(run.buffers[0]), std::vector<uint32_t>(600, 1));
    EXPECT_LT(from_bytes<uint32_t>(run.buffers[1])[0], 600u);  // fewer CTAs started than there are items
  }
}

TEST(ClusterLaunchControlFaults, AreReportedUnderEveryDriver) {
  AsyncCase c;
  c.ctas = 1;
  const std::string response = init_bar() + R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
  @first clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [smem], [bar];
)" + wait_for("[bar]", 0) + "  ld.shared.b128 %q1, [smem];\n";
  const std::string once = response + "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;\n";
  c.body = once +
           "  @!%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
           "[smem], [bar];\n";
  expect_fault(c, Code::F3509);
  const std::string place = "  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q1;\n";
  c.body = response + place;
  expect_fault(c, Code::F3511);
  // After the question it has no meaning, and no effect: CuTe selects by the answer.
  c.body = once + place;
  run_everywhere(c);
  c.body = init_bar() +
           "  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [smem+8], "
           "[bar];\n";
  expect_fault(c, Code::F3002);
  c.cluster = c.ctas = 2;
  c.body = init_bar() + cluster_sync() + R"(
  xor.b32 %r1, rank, 1;
  mov.u64 %rd1, smem;
  cvta.shared.u64 %rd1, %rd1;
  mapa.u64 %rd1, %rd1, %r1;
  mov.u64 %rd2, bar;
  cvta.shared.u64 %rd2, %rd2;
  clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%rd1], [%rd2];
)" + cluster_sync();
  expect_fault(c, Code::F3510);
}

TEST(Griddepcontrol, DoesNothingWithoutDependentGrids) {
  AsyncCase c;
  c.buffers = {to_bytes(std::vector<uint32_t>(1))};
  c.body = R"(
  griddepcontrol.wait;
  griddepcontrol.launch_dependents;
  @first st.global.b32 [buf0], 3;
)";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0))[0], 3u);
}

// CUTLASS's producer releases the registers that the consumers take: 384 threads start with 168 registers each.
AsyncCase registers(const std::string& body) {
  AsyncCase c;
  c.threads = 384;
  c.directives = ".maxntid 384, 1, 1 .minnctapersm 1";
  c.buffers = {to_bytes(std::vector<uint32_t>(1))};
  c.body = R"(
  shr.u32 %r1, tid, 7;
  setp.eq.u32 %p1, %r1, 0;
)" + body;
  return c;
}

TEST(Setmaxnreg, ConsumersTakeWhatTheProducerGives) {
  const AsyncCase c = registers(R"(
  @%p1 bra PRODUCER;
  setmaxnreg.inc.sync.aligned.u32 240;
  bra JOIN;
PRODUCER: nanosleep.u32 500;
  setmaxnreg.dec.sync.aligned.u32 24;
JOIN: red.async.release.gpu.global.add.u32 [buf0], 1;
)");
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0))[0], 384u);
}

TEST(Setmaxnreg, ReportsWhatCannotBe) {
  expect_fault(registers("  setmaxnreg.dec.sync.aligned.u32 176;\n"), Code::F3407);
  // The launch has min(168, largest inc) registers: ptxas gives 384 threads 168 with inc 248, and 160 with inc 160.
  expect_fault(registers("  setmaxnreg.inc.sync.aligned.u32 160;\n  setmaxnreg.inc.sync.aligned.u32 176;\n"), Code::F3407);
  expect_fault(registers("  setmaxnreg.inc.sync.aligned.u32 176;\n"), Code::F3601);  // no warp releases registers
}

TEST(GridLegality, AgreesWithPtxas) {
  expect_illegal("setmaxnreg.dec.sync.aligned.u32 16", Code::E1343);
  expect_illegal("setmaxnreg.inc.sync.aligned.u32 264", Code::E1343);
  expect_illegal("setmaxnreg.dec.sync.aligned.u32 25", Code::E1343);
  expect_illegal("setmaxnreg.dec.sync.aligned.u32 24", Code::E1210, "sm_100");
  expect_illegal(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::"
      "all.b128 [%r1], [%r2]",
      Code::E1210, "sm_100");
  expect_illegal("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1", Code::E1210, "sm_90a");
  expect_illegal("griddepcontrol.launch", Code::E1101);
  expect_legal("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, %r4}, %q1",
               "sm_100");
}

TEST(Multimem, IsUnsupportedByName) {
  AsyncCase c;
  c.buffers = {Bytes(64)};
  for (const char* text : {"multimem.ld_reduce.relaxed.sys.global.max.s32 %r1, [buf0]",
                           "multimem.st.weak.global.v4.f32 [buf0], {%f1, %f2, %f3, %f4}",
                           "multimem.red.release.sys.global.add.f32 [buf0], %f1"}) {
    c.body = std::string("  ") + text + ";\n";
    expect_fault(c, Code::U5000);
  }
}

}  // namespace
}  // namespace drywell::test
