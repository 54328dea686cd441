// H7402 between CTAs names the flags that release or acquire nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using testing::HasSubstr;

// CTA 0 stores a word and counts by `add`; CTA 1 polls the counter by `poll` and loads the word.
std::string kernel(const std::string& add, const std::string& poll) {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 b)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd1;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [b];
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p2, %r1, 1;
  @%p2 bra READER;
  st.global.u32 [%rd1+128], 7;
  )" + add +
         R"(
  ret;
READER:
  )" + poll +
         R"(
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra READER;
  ld.global.u32 %r4, [%rd1+128];
  st.global.u32 [%rd1+132], %r4;
  ret;
}
)";
}

// The order of the H7402; "-" without one.
std::string order_of_race(const std::string& add, const std::string& poll) {
  Device d;
  LoadedModule m = d.load_ptx(kernel(add, poll));
  const GmemAddr b = d.allocate(256, "b");
  d.fill(b, 0, 256);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {2}, .block = {1}}, Args().add(b), o).ok());
  for (const Finding& f : checker.findings())
    if (f.code == "H7402") return f.order;
  return "-";
}

constexpr const char* kRelease = "red.release.gpu.global.add.u32 [%rd1], 1;";
constexpr const char* kAcquire = "ld.acquire.gpu.global.u32 %r3, [%rd1];";

TEST(LooseFlags, AreNamedWhereTheyReleaseNothing) {
  EXPECT_THAT(order_of_race("red.relaxed.gpu.global.add.u32 [%rd1], 1;", kAcquire), HasSubstr("'red.relaxed.gpu.global.add.u32 [%rd1], 1;'"));
  EXPECT_THAT(order_of_race("st.volatile.global.u32 [%rd1], 1;", kAcquire), HasSubstr("stores what other CTAs read, and releases nothing to them"));
  EXPECT_THAT(order_of_race("red.release.cta.global.add.u32 [%rd1], 1;", kAcquire), HasSubstr("and its scope does not reach them"));
}

// A missing acquire alone is H7406.
TEST(LooseFlags, AreNamedOnBothSides) {
  EXPECT_THAT(order_of_race("red.relaxed.gpu.global.add.u32 [%rd1], 1;", "ld.relaxed.gpu.global.u32 %r3, [%rd1];"),
              AllOf(HasSubstr("releases nothing to them; 'ld.relaxed"), HasSubstr("reads what other CTAs store, and acquires nothing, unless a fence follows")));
}

TEST(LooseFlags, AreSilentInTheRightKernel) {
  EXPECT_EQ(order_of_race(kRelease, kAcquire), "-");
  EXPECT_EQ(order_of_race("fence.acq_rel.gpu; st.volatile.global.u32 [%rd1], 1;", "ld.volatile.global.u32 %r3, [%rd1]; fence.acq_rel.gpu;"), "-");
}

}  // namespace
}  // namespace drywell::sim
