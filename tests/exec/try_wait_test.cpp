// mbarrier.try_wait suspends: a waiter whose phase completes observes it, even if the next phase completes before the
// waiter runs again (in CuTe's Blackwell tutorials 02 and 05 one warp can be that far ahead).
#include <gtest/gtest.h>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

// Warp 1 signals warp 0 (by `at`) before it waits for phase 0 of `late`; warp 0 then completes phases 0 and 1.
constexpr const char* kTwoPhasesAhead = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 8 .b64 ready;
  .shared .align 8 .b64 late;
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, ready;
  mov.u32 %r2, late;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra START;
  mbarrier.init.shared::cta.b64 [%r1], 32;
  mbarrier.init.shared::cta.b64 [%r2], 1;
START:
  bar.sync 0;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra WAITER;
WAIT_READY:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
  @!%p2 bra WAIT_READY;
  @%p0 bra DONE;
  mbarrier.arrive.shared::cta.b64 _, [%r2];
  mbarrier.arrive.shared::cta.b64 _, [%r2];
  bra DONE;
WAITER:
  mbarrier.arrive.shared::cta.b64 _, [%r1];
WAIT_LATE:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT_LATE;
  ld.param.u64 %rd0, [out];
  st.global.u32 [%rd0], 7;
DONE:
  ret;
}
)";

TEST(TryWait, AWaiterTwoPhasesLateHasSeenItsPhase) {
  Device device;
  const GmemAddr out = device.allocate(4, "out");
  const LoadedModule m = device.load_ptx(kTwoPhasesAhead);
  const RunResult r = device.launch(m, "k", {.grid = {1}, .block = {64}}, Args().add(out));
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  uint32_t value = 0;
  device.read(&value, out, 4);
  EXPECT_EQ(value, 7u);
}

// One thread fills `data` by a bulk copy; `wait` is the consumer's wait for it. The value read goes to `out`.
std::string copy_and_wait(const std::string& wait) {
  return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
  .shared .align 8 .b64 full;
  .shared .align 16 .b8 data[16];
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [in];
  mov.u32 %r0, full;
  mov.u32 %r1, data;
  mbarrier.init.shared::cta.b64 [%r0], 1;
  st.shared.u32 [%r1], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r0];
)" + wait +
         R"(
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%rd0], %r2;
  ret;
}
)";
}

uint32_t value_after(const LoadedModule& m, Device& device, GmemAddr out, GmemAddr in, uint64_t seed) {
  device.fill(out, 0, 4);
  const RunResult r = device.launch(m, "k", {.grid = {1}, .block = {1}}, Args().add(out).add(in), {.driver = DriverKind::shuffled, .seed = seed});
  EXPECT_TRUE(r.ok()) << "seed " << seed << ": " << r.fault->to_string();
  uint32_t value = 0;
  device.read(&value, out, 4);
  return value;
}

TEST(TryWait, AWaitWithoutARetryLoopFailsUnderSomeSeed) {
  Device device;
  const GmemAddr out = device.allocate(4, "out"), in = device.allocate(16, "in");
  const uint32_t seven[4] = {7, 7, 7, 7};
  device.write(in, seven, 16);
  const std::string poll = "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r0], 0;\n";
  const LoadedModule once = device.load_ptx(copy_and_wait(poll)), loop = device.load_ptx(copy_and_wait(poll + "  @!%p1 bra WAIT;\n"));
  int early = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    early += value_after(once, device, out, in, seed) != 7;
    EXPECT_EQ(value_after(loop, device, out, in, seed), 7u) << seed;
  }
  EXPECT_GT(early, 0);
}

}  // namespace
}  // namespace drywell::sim
