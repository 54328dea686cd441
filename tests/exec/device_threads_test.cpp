// Devices of different host threads know nothing of each other (include/drywell/sim/device.h).
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <drywell/sim/device.h>
#include <drywell/sim/report.h>

namespace drywell::test {
namespace {

using namespace sim;

constexpr uint32_t kCtas = 96, kThreads = 128;

/// Thousands of steps of a generator per thread, mixed over the CTA through shared memory.
constexpr const char* kInteger = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry work(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[512];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 128, %r1;
  mov.u32 %r4, 0; mov.u32 %r5, words; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6;
  xor.b32 %r7, %r1, 64; shl.b32 %r7, %r7, 2; add.u32 %r7, %r5, %r7;
LOOP:
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  st.shared.u32 [%r6], %r3;
  bar.sync 0;
  ld.shared.u32 %r8, [%r7];
  bar.sync 0;
  xor.b32 %r3, %r3, %r8;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 40;
  @%p1 bra LOOP;
  ld.param.u64 %rd1, [out];
  mad.lo.u32 %r9, %r2, 128, %r1;
  mul.wide.u32 %rd2, %r9, 4; add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

/// Sums of products in binary32, other numbers for each thread.
constexpr const char* kFloat = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry work(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 128, %r1;
  cvt.rn.f32.u32 %f1, %r3; mov.f32 %f2, 0f3F800000; mov.u32 %r4, 0;
LOOP:
  fma.rn.f32 %f2, %f2, 0f3F7FF972, %f1;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 100;
  @%p1 bra LOOP;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

struct Outcome {
  std::vector<uint8_t> bytes;
  uint64_t instructions = 0, cycles = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const char* ptx, DriverKind driver) {
  Device device;
  const GmemAddr out = device.allocate(4 * kCtas * kThreads, "out");
  RunOptions options;
  options.driver = driver;
  options.threads = 2;
  const RunResult r = device.launch(device.load_ptx(ptx), "work", {.grid = {kCtas}, .block = {kThreads}}, Args().add(out), options);
  EXPECT_TRUE(r.ok());
  Outcome o{std::vector<uint8_t>(4 * kCtas * kThreads), r.warp_instructions, r.cycles};
  device.read(o.bytes.data(), out, o.bytes.size());
  return o;
}

TEST(DeviceThreads, TwoDevicesRunAtOnceAsEachDoesAlone) {
  for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
    const Outcome integer = run(kInteger, driver), single = run(kFloat, driver);
    EXPECT_NE(integer.bytes, single.bytes);
    Outcome a, b;
    std::thread other([&] { b = run(kFloat, driver); });
    a = run(kInteger, driver);
    other.join();
    EXPECT_EQ(a, integer) << driver_name(driver);
    EXPECT_EQ(b, single) << driver_name(driver);
  }
}

}  // namespace
}  // namespace drywell::test
