// The clocks of a device run on from launch to launch, and 32 bits do not hold them.
#include <gtest/gtest.h>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

struct Clocks {
  uint64_t clock64 = 0, globaltimer = 0;
  uint32_t clock = 0, clock_hi = 0, timer_lo = 0, timer_hi = 0;
};

class RunningClocks : public testing::TestWithParam<DriverKind> {
 protected:
  /// What a launch reads, one register after another.
  Clocks read() {
    const LoadedModule m = d.load_ptx(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [to];
  mov.u64 %rd2, %clock64;
  mov.u64 %rd3, %globaltimer;
  mov.u32 %r1, %clock;
  mov.u32 %r2, %clock_hi;
  mov.u32 %r3, %globaltimer_lo;
  mov.u32 %r4, %globaltimer_hi;
  st.global.v2.u64 [%rd1], {%rd2, %rd3};
  st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, %r4};
  ret;
}
)");
    EXPECT_TRUE(d.launch(m, "k", {.grid = {1}, .block = {1}}, Args().add(to), {.driver = GetParam()}).ok());
    Clocks out;
    d.read(&out, to, sizeof out);
    return out;
  }
  Device d{{.arch = "sm_90a"}};
  GmemAddr to = d.allocate(sizeof(Clocks), "to");
};

TEST_P(RunningClocks, HaveRunForSecondsBeforeTheFirstLaunch) {
  const Clocks c = read();
  EXPECT_GT(c.clock64, uint64_t{1} << 32);
  EXPECT_GT(c.globaltimer, uint64_t{1} << 32);
  EXPECT_EQ(c.clock_hi, c.clock64 >> 32);
  EXPECT_EQ(c.timer_hi, c.globaltimer >> 32);
  EXPECT_LT(c.clock - static_cast<uint32_t>(c.clock64), 1000u);
  EXPECT_LT(c.timer_lo - static_cast<uint32_t>(c.globaltimer), 1000u);
}

TEST_P(RunningClocks, OfALaterLaunchAreLater) {
  const Clocks first = read(), second = read();
  EXPECT_GT(second.clock64, first.clock64);
  EXPECT_GT(second.globaltimer, first.globaltimer);
}

INSTANTIATE_TEST_SUITE_P(Drivers, RunningClocks, testing::Values(DriverKind::eager, DriverKind::timed));

}  // namespace
}  // namespace drywell::sim
