// A kernel bound by memory: every thread of 256 in a CTA reads 16 bytes of `p`, 4 KiB a CTA.
#pragma once

namespace drywell::sim {

inline constexpr const char* kReadAll = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<3>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 256, %r2;
mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2;
ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d1];
add.u32 %r3, %r3, %r4; setp.eq.u32 %p1, %r3, 12345; @%p1 st.global.u32 [%d1], %r5;
ret;
}
)";

}  // namespace drywell::sim
