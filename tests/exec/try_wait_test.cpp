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

}  // namespace
}  // namespace drywell::sim
