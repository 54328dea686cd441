// H7410 for volatile and relaxed accesses: a warp's sum in volatile memory is found, lanes that wait for each other's values are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> codes_of(const std::string& body) {
  AsyncCase c;
  c.body = "mov.u32 %r4, smem; shl.b32 %r2, tid, 2; add.u32 %r2, %r2, %r4; xor.b32 %r3, %r2, 4; st.volatile.shared.u32 [%r2+256], 0; bar.warp.sync -1;" + body;
  sim::HazardChecker checker;
  EXPECT_TRUE(run_async(c, {.driver = sim::DriverKind::eager, .max_instructions = 100'000, .listeners = {checker.listener()}}).result.ok());
  std::vector<std::string> all;
  for (const sim::Finding& f : checker.findings()) all.push_back(f.code);
  return all;
}

// A step of `volatile int* s; s[lane] += s[lane + 16]`, for as many lanes as have a partner.
std::string step(const std::string& sync) {
  return "ld.volatile.shared.u32 %r5, [%r2+320]; " + sync + " ld.volatile.shared.u32 %r6, [%r2+256]; add.u32 %r6, %r6, %r5; st.volatile.shared.u32 [%r2+256], %r6; " + sync +
         " ld.volatile.shared.u32 %r5, [%r2+288];";
}

TEST(VolatileLanes, ASumWithoutBarriersIsFound) {
  const std::string init = "st.volatile.shared.u32 [%r2+384], 0; bar.warp.sync -1;";
  EXPECT_THAT(codes_of(init + step("")), ElementsAre("H7410"));
  EXPECT_THAT(codes_of(init + step("bar.warp.sync -1;")), IsEmpty());
}

TEST(VolatileLanes, ANeighboursRelaxedStoreIsFound) {
  EXPECT_THAT(codes_of("st.relaxed.cta.shared.u32 [%r2+256], tid; ld.relaxed.cta.shared.u32 %r5, [%r3+256];"), ElementsAre("H7410"));
  EXPECT_THAT(codes_of("st.relaxed.cta.shared.u32 [%r2+256], tid; ld.relaxed.cta.shared.u32 %r5, [%r2+256];"), IsEmpty());
}

TEST(VolatileLanes, ALoopThatWaitsForTheValueIsSilent) {
  EXPECT_THAT(codes_of("st.volatile.shared.u32 [%r2+256], 1; LOOP: ld.volatile.shared.u32 %r5, [%r3+256]; setp.eq.u32 %p2, %r5, 0; @%p2 bra LOOP;"), IsEmpty());
  EXPECT_THAT(codes_of("@first st.volatile.shared.u32 [smem+256], 1; LOOP: ld.volatile.shared.u32 %r5, [smem+256]; setp.eq.u32 %p2, %r5, 0; @%p2 bra LOOP;"), IsEmpty());
}

TEST(VolatileLanes, AtomicsAreSilent) {
  EXPECT_THAT(codes_of("atom.shared.add.u32 %r5, [%r3+256], 1; ld.volatile.shared.u32 %r6, [%r2+256];"), IsEmpty());
  EXPECT_THAT(codes_of("st.volatile.shared.u32 [%r2+256], 1; atom.shared.add.u32 %r5, [%r3+256], 1;"), IsEmpty());
}

}  // namespace
}  // namespace drywell::test
