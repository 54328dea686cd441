// H7413 and H7414: lanes of one store that write different values to one place (HeCBench's simpleSpmv stores a sum of a row by all of its lanes).
#include <gtest/gtest.h>

#include <string>

#include "tests/check/warp_codes.h"

namespace drywell::sim {
namespace {

// %r1 is the thread, %rd3 a word of global memory, %rd4 a place of the thread's own, %rd5 one of each two threads.
void expect(const std::string& body, const Codes& codes) {
  expect_warp_codes(R"(.shared .align 16 .b32 s[4];
.shared .align 16 .b32 t[4];
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
setp.gt.u32 %p2, %r1, 31;
)" + body,
                    codes);
}

TEST(LanesCollide, WithDifferentValuesAreReported) {
  expect("st.global.u32 [%rd3], %r1;", {"H7413"});
  expect("st.global.u32 [%rd5], %r1;", {"H7413"});
}

// Triton brings rows into another layout through shared memory, those that do not exist (sums of no element, NaN) with them, and stores the others
// (FlagGems' topk_softmax).
TEST(LanesCollide, InSharedMemoryTheUseIsReported) {
  const std::string store = "st.shared.u32 [s], %r1; bar.warp.sync -1;", load = store + "ld.shared.u32 %r3, [s];";
  expect(store, {"H7413"});  // no instruction loads shared memory: nothing is followed
  expect(load, {});
  expect(load + "add.u32 %r3, %r3, 1; @%p2 st.global.u32 [%rd4], %r3;", {});
  expect(load + "st.global.u32 [%rd4], %r3;", {"H7413"});
  expect(load + "setp.eq.u32 %p3, %r3, %r1; @%p3 st.global.u32 [%rd4], %r1;", {"H7413"});
  expect(store + "atom.shared.add.u32 %r3, [s], 1;", {"H7413"});
  expect(store + "st.shared.u32 [s], 7; bar.warp.sync -1; ld.shared.u32 %r3, [s]; st.global.u32 [%rd4], %r3;", {});
  expect("st.shared.v2.u32 [t], {%r1, 7}; bar.warp.sync -1; ld.shared.u32 %r3, [t+4]; st.global.u32 [%rd4], %r3;", {});
  expect("st.shared.v2.u32 [t], {%r1, 7}; bar.warp.sync -1; ld.shared.u32 %r3, [t]; st.global.u32 [%rd4], %r3;", {"H7413"});
}

// A bulk copy takes it away: which lane's value is not followed there.
TEST(LanesCollide, ACopyIsAUse) {
  const std::string copy = "bar.warp.sync -1; fence.proxy.async.shared::cta; @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [s], 16; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
  expect("st.shared.v4.u32 [s], {7, 7, 7, 7};" + copy, {});
  expect("st.shared.v4.u32 [s], {7, 7, 7, %r1};" + copy, {"H7413"});
}

// Triton's sums of products: each lane of a butterfly that begins with `fma` has its own product unrounded.
TEST(LanesCollide, WithRoundedFloatsIsANote) {
  expect("or.b32 %r3, %r1, 0x3f800000; st.shared.b32 [s], %r3;", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; st.global.v2.b32 [%rd3], {%r3, 7};", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; st.global.v2.b32 [%rd3], {%r3, %r1};", {"H7413"});
  expect("or.b32 %r3, %r1, 0x3f800000; mov.b64 %rd6, {%r3, %r3}; st.global.b64 [%rd3], %rd6;", {"H7414"});
  expect("or.b32 %r3, %r1, 0x3f800000; mov.b64 %rd6, {%r3, %r1}; st.global.b64 [%rd3], %rd6;", {"H7413"});
  expect("shl.b32 %r3, %r1, 9; or.b32 %r3, %r3, 0x3f800000; st.global.b32 [%rd3], %r3;", {"H7413"});
  expect("or.b32 %r3, %r1, 0x7f800000; st.global.b32 [%rd3], %r3;", {"H7413"});
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
