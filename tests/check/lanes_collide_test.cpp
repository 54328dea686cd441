// H7413 and H7414: lanes of one store that write different values to one place (HeCBench's simpleSpmv stores a sum of a row by all of its lanes).
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using Codes = std::set<std::string>;

// %r1 is the thread, %rd3 a word of global memory, %rd4 a place of the thread's own, %rd5 one of each two threads.
Codes codes_of(const std::string& body, DriverKind driver) {
  Device d;
  const LoadedModule m = d.load_ptx(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
{
.shared .align 16 .b32 s;
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %p<4>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd3, %rd1;
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd4, %r1, 4, %rd3;
shr.u32 %r2, %r1, 1;
mad.wide.u32 %rd5, %r2, 4, %rd3;
setp.eq.u32 %p1, %r1, 0;
)" + body + "\nret;\n}\n");
  HazardChecker checker;
  const GmemAddr p = d.allocate(256);
  d.fill(p, 0, 256);
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(p), {.driver = driver, .listeners = {checker.listener()}});
  EXPECT_TRUE(r.ok()) << body;
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

void expect(const std::string& body, const Codes& codes) {
  for (const DriverKind driver : {DriverKind::eager, DriverKind::shuffled, DriverKind::timed}) EXPECT_EQ(codes_of(body, driver), codes) << body;
}

TEST(LanesCollide, WithDifferentValuesAreReported) {
  expect("st.global.u32 [%rd3], %r1;", {"H7413"});
  expect("st.global.u32 [%rd5], %r1;", {"H7413"});
  expect("st.shared.u32 [s], %r1;", {"H7413"});
}

// Triton's sums of products: each lane of a butterfly that begins with `fma` has its own product unrounded.
TEST(LanesCollide, WithRoundedFloatsIsANote) {
  expect("or.b32 %r3, %r1, 0x3f800000; st.shared.b32 [s], %r3;", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; st.global.v2.b32 [%rd3], {%r3, 7};", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; st.global.v2.b32 [%rd3], {%r3, %r1};", {"H7413"});
  expect("or.b32 %r3, %r1, 0x3f800000; mov.b64 %rd6, {%r3, %r3}; st.global.b64 [%rd3], %rd6;", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; mov.b64 %rd6, {%r3, %r1}; st.global.b64 [%rd3], %rd6;", {"H7413"});
  expect("shl.b32 %r3, %r1, 9; or.b32 %r3, %r3, 0x3f800000; st.shared.b32 [s], %r3;", {"H7413"});
  expect("or.b32 %r3, %r1, 0x7f800000; st.shared.b32 [s], %r3;", {"H7413"});
}

TEST(LanesCollide, OneValueOnePlaceOrAStrongStoreIsRight) {
  expect("st.global.u32 [%rd3], 7;", {});
  expect("st.global.u32 [%rd5], %r2;", {});
  expect("st.global.u32 [%rd4], %r1;", {});
  expect("@%p1 st.global.u32 [%rd3], %r1;", {});
  expect("st.volatile.shared.u32 [s], %r1;", {});
  expect("st.relaxed.gpu.global.u32 [%rd3], %r1;", {});
  expect("red.global.add.u32 [%rd3], %r1;", {});
}

}  // namespace
}  // namespace drywell::sim
