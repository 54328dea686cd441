// H7503: tensor memory that nothing has written is reported where what was loaded from it is used (Triton's attention loads the accumulator of a
// product that a CTA without a step does not compute, and selects or stores none of it).
#include <gtest/gtest.h>

#include <string>

#include "tests/check/warp_codes.h"

namespace drywell::sim {
namespace {

// One warp has 32 columns from %r1 on; %rd2 is the thread's word of global memory, %p1 is false.
void expect(const std::string& body, const Codes& codes) {
  expect_warp_codes(R"(.shared .align 16 .b32 s[64];
.reg .b32 %r<9>;
.reg .b64 %rd<3>;
.reg .pred %p<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd2, %r0, 4, %rd1;
shl.b32 %r7, %r0, 2;
mov.u32 %r8, s;
add.u32 %r8, %r8, %r7;
setp.ge.u32 %p1, %r0, 32;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;
ld.shared.b32 %r1, [s];
mov.b32 %r2, 7;
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};
tcgen05.wait::st.sync.aligned;
)" + body + "\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
                    codes);
}

// The first of the two columns is written.
std::string loaded(const std::string& use) { return "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r1];\ntcgen05.wait::ld.sync.aligned;\nmul.f32 %r4, %r4, 0f40000000;\n" + use; }

TEST(TensorUnwritten, WhatIsNotUsedIsSilent) {
  expect(loaded("st.global.b32 [%rd2], %r3;"), {});
  expect(loaded("selp.b32 %r5, %r4, %r3, %p1; st.global.b32 [%rd2], %r5;"), {});
  expect(loaded("@%p1 st.global.b32 [%rd2], %r4;"), {});
  expect(loaded("@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r4};"), {});
  expect(loaded("st.shared.b32 [%r8], %r4; bar.warp.sync -1; @%p1 ld.shared.b32 %r5, [%r8];"), {});
  expect(loaded("mov.b32 %r4, %r3; st.global.b32 [%rd2], %r4;"), {});
}

TEST(TensorUnwritten, UsesAreReported) {
  expect(loaded("st.global.b32 [%rd2], %r4;"), {"H7503"});
  expect(loaded("add.f32 %r5, %r4, %r3; st.global.b32 [%rd2], %r5;"), {"H7503"});
  expect(loaded("setp.gt.f32 %p2, %r4, %r3; @%p2 bra END; st.global.b32 [%rd2], %r3;\nEND:"), {"H7503"});
  const std::string kept = "st.shared.b32 [%r8], %r4; bar.warp.sync -1; ";
  expect(loaded(kept + "ld.shared.b32 %r5, [%r8]; st.global.b32 [%rd2], %r5;"), {"H7503"});
  expect(loaded(kept + "setp.eq.u32 %p2, %r0, 0; fence.proxy.async.shared::cta; @%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 128; "
                       "@%p2 cp.async.bulk.commit_group; @%p2 cp.async.bulk.wait_group 0;"),
         {"H7503"});
  expect(loaded("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r4};\ntcgen05.wait::st.sync.aligned;"), {"H7503"});
  expect(loaded("shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; st.global.b32 [%rd2], %r5;"), {"H7503"});
}

// In 16x64b the second bit of a lane chooses the column.
TEST(TensorUnwritten, EveryLaneHasItsCell) {
  const std::string load = "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r4}, [%r1];\ntcgen05.wait::ld.sync.aligned;\nand.b32 %r5, %r0, 2;\nsetp.eq.u32 %p2, %r5, ";
  expect(load + "0;\n@%p2 st.global.b32 [%rd2], %r4;", {});
  expect(load + "2;\n@%p2 st.global.b32 [%rd2], %r4;", {"H7503"});
}

}  // namespace
}  // namespace drywell::sim
