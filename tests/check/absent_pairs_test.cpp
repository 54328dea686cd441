// H7502 behind packed arithmetic and behind redux: LLVM takes the half of a pair that it does not need from a register that nothing has written, and
// Triton reduces warps that loaded nothing (flash-linear-attention's simple_gla and kl_div).
#include <gtest/gtest.h>

#include <string>

#include "tests/check/warp_codes.h"

namespace drywell::sim {
namespace {

// %r0 is the thread, %rd2 the thread's word of global memory; %r8 and %f8 have no value, %p1 is false.
void expect(const std::string& body, const Codes& codes) {
  expect_warp_codes(R"(.reg .b32 %r<9>;
.reg .f32 %f<9>;
.reg .b64 %rd<9>;
.reg .pred %p<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd2, %r0, 4, %rd1;
setp.ge.u32 %p1, %r0, 32;
cvt.rn.f32.u32 %f0, %r0;
)" + body,
                    codes);
}

TEST(AbsentPairs, HalvesDoNotDependOnEachOther) {
  // A pair in one register, of which the upper half has no value.
  const std::string pair = "mov.b32 %r1, %f0;\ncvt.u64.u32 %rd3, %r8;\nshl.b64 %rd3, %rd3, 32;\ncvt.u64.u32 %rd5, %r1;\nor.b64 %rd3, %rd3, %rd5;\n";
  const std::string sum = pair + "add.rn.f32x2 %rd4, %rd3, %rd3;\nfma.rn.f32x2 %rd4, %rd4, %rd3, %rd4;\nmov.b64 {%f1, %f2}, %rd4;\n";
  expect(sum + "st.global.f32 [%rd2], %f1;", {});
  expect(sum + "st.global.f32 [%rd2], %f2;", {"H7502"});
  const std::string halves = ".reg .b16 %h<4>;\nshl.b32 %r1, %r8, 16;\nor.b32 %r1, %r1, 0x3c00;\nmul.rn.f16x2 %r2, %r1, %r1;\nmov.b32 {%h1, %h2}, %r2;\n";
  expect(halves + "st.global.b16 [%rd2], %h1;", {});
  expect(halves + "st.global.b16 [%rd2], %h2;", {"H7502"});
}

TEST(AbsentPairs, AReductionOfLanesIsFollowed) {
  const std::string all = "@%p1 mov.b32 %r1, 7;\nredux.sync.max.s32 %r2, %r1, -1;\nadd.s32 %r2, %r2, 1;\n";
  expect(all + "@%p1 st.global.b32 [%rd2], %r2;", {});
  expect(all + "st.global.b32 [%rd2], %r2;", {"H7502"});
  // One lane of two members has a value: neither has a result.
  const std::string some = "setp.ne.u32 %p2, %r0, 3;\n@%p2 mov.b32 %r1, 7;\nshr.u32 %r3, %r0, 1;\nshl.b32 %r3, %r3, 1;\nshl.b32 %r3, 3, %r3;\nredux.sync.max.s32 %r2, %r1, %r3;\n";
  expect(some + "setp.gt.u32 %p2, %r0, 3;\n@%p2 st.global.b32 [%rd2], %r2;", {});
  expect(some + "setp.eq.u32 %p2, %r0, 2;\n@%p2 st.global.b32 [%rd2], %r2;", {"H7502"});
}

}  // namespace
}  // namespace drywell::sim
