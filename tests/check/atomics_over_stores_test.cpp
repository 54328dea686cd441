// A plain store that atomics have come upon stays in sight: other warps' and CTAs' atomics race with it, unless they are ordered behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// %r1: the CTA; %p1: it is the first; %p2: the first thread of a CTA; %rd1: a counter, %rd2: a flag, both 0.
std::vector<std::string> codes_of(const std::string& body, uint32_t ctas, uint32_t threads) {
  Device d;
  const LoadedModule m = d.load_ptx(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 count, .param .u64 flag)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<6>;\n"
      ".shared .b32 s;\nld.param.u64 %rd1, [count];\nld.param.u64 %rd2, [flag];\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p2, %r2, 0;\n" +
      body + "\nret;\n}\n");
  const GmemAddr count = d.allocate(64, "count"), flag = d.allocate(64, "flag");
  d.fill(count, 0, 64);
  d.fill(flag, 0, 64);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {ctas}, .block = {threads}}, Args().add(count).add(flag), o).ok()) << body;
  std::vector<std::string> codes;
  for (const Finding& f : checker.findings()) codes.push_back(f.code);
  return codes;
}

const std::string kAdd = "red.global.add.u32 [%rd1], 1;";

TEST(AtomicsOverStores, OfOneCta) {
  EXPECT_THAT(codes_of("@%p2 st.shared.u32 [s], 0; red.shared.add.u32 [s], 1;", 1, 64), UnorderedElementsAre("H7401"));
  EXPECT_THAT(codes_of("@%p2 st.global.u32 [%rd1], 0;" + kAdd, 1, 64), UnorderedElementsAre("H7402"));
  EXPECT_THAT(codes_of("@%p2 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1;", 1, 64), IsEmpty());
  EXPECT_THAT(codes_of("@%p2 st.global.u32 [%rd1], 0; bar.sync 0;" + kAdd, 1, 64), IsEmpty());
  EXPECT_THAT(codes_of("st.global.u32 [%rd1], 0;" + kAdd, 1, 1), IsEmpty());
}

TEST(AtomicsOverStores, OfSeveralCtas) {
  EXPECT_THAT(codes_of("@%p1 st.global.u32 [%rd1], 0;" + kAdd, 2, 1), UnorderedElementsAre("H7402"));
  EXPECT_THAT(codes_of("@%p1 st.global.u32 [%rd1], 0;" + kAdd, 5, 32), UnorderedElementsAre("H7402"));
  EXPECT_THAT(codes_of(kAdd, 4, 32), IsEmpty());
}

// As a grid's barrier is reset: the store is released, the others acquire it before their next atomic.
TEST(AtomicsOverStores, BehindAReleaseAndAnAcquireAreSilent) {
  const std::string wait = "WAIT: ld.acquire.gpu.global.u32 %r3, [%rd2]; setp.eq.u32 %p3, %r3, 0; @%p3 bra WAIT; ";
  EXPECT_THAT(codes_of("@%p1 st.global.u32 [%rd1], 0; @%p1 st.release.gpu.global.u32 [%rd2], 1; " + wait + kAdd + kAdd, 4, 1), IsEmpty());
}

// The last CTA, or the last warp, clears the counter for the next time: it has read the other atomics, in turn.
TEST(AtomicsOverStores, OfTheLastOneAreSilent) {
  const std::string clear = " setp.eq.u32 %p3, %r3, 3; @%p3 st.global.u32 [%rd1], 0;";
  EXPECT_THAT(codes_of("atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], 1;" + clear, 4, 1), IsEmpty());
  EXPECT_THAT(codes_of("atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1;" + clear, 4, 1), IsEmpty());
  EXPECT_THAT(codes_of("@%p2 st.shared.u32 [s], 0; bar.sync 0; and.b32 %r4, %r2, 31; setp.eq.u32 %p4, %r4, 0; mov.b32 %r3, 0; @%p4 atom.shared.add.u32 %r3, [s], 1; setp.eq.u32 %p3, %r3, 2; @%p3 st.shared.u32 [s], 0;", 1, 64), IsEmpty());
}

// What another thread's data is needs a fence all the same, and so does a counter that somebody changes later.
TEST(AtomicsOverStores, OtherPlacesNeedAnOrder) {
  EXPECT_THAT(codes_of("st.global.u32 [%rd1+4], %r1; atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1; setp.eq.u32 %p3, %r3, 3; @%p3 ld.global.u32 %r5, [%rd1+4];", 4, 1), UnorderedElementsAre("H7402"));
  EXPECT_THAT(codes_of("atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1; st.global.u32 [%rd1], 0;", 2, 1), UnorderedElementsAre("H7402"));
}

}  // namespace
}  // namespace drywell::sim
