"""PTX texts of the tests."""

HEAD = ".version 9.0\n.target sm_100a\n.address_size 64\n"

AXPY = HEAD + """
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f3;
DONE:
  ret;
}
"""

SPIN = HEAD + ".visible .entry spin() .reqntid 32 {\nL: bra L;\n}\n"

# Stores its parameters, each in 8 bytes.
ECHO = HEAD + """
.visible .entry echo(.param .u64 out, .param .s8 a, .param .u16 b, .param .b32 c, .param .f64 d, .param .f16 e, .param .align 4 .b8 s[8])
.reqntid 1
{
  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .b16 %h<4>; .reg .f64 %fd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.s8 %r1, [a]; st.global.u32 [%rd1], %r1;
  ld.param.u16 %h1, [b]; st.global.u16 [%rd1+8], %h1;
  ld.param.b32 %r2, [c]; st.global.b32 [%rd1+16], %r2;
  ld.param.f64 %fd1, [d]; st.global.f64 [%rd1+24], %fd1;
  ld.param.b16 %h2, [e]; st.global.b16 [%rd1+32], %h2;
  ld.param.b32 %r3, [s]; st.global.b32 [%rd1+40], %r3;
  ld.param.b32 %r3, [s+4]; st.global.b32 [%rd1+44], %r3;
  ret;
}
"""

# One CTA copies a 32 x 32 box of floats by TMA.
TMA = HEAD + """
.visible .entry copy(.param .align 64 .b8 source[128], .param .align 64 .b8 target[128], .param .u32 row, .param .u32 column) .reqntid 32
{
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT;
  mov.u32 %r2, tile; mov.u32 %r3, bar;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.proxy.async.shared::cta;
  ld.param.u32 %r4, [row]; ld.param.u32 %r5, [column];
  mov.b64 %rd1, source; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, target; cvta.param.u64 %rd2, %rd2;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 4096;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r5, %r4}], [%r3];
TRY:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
  @!%p2 bra TRY;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r5, %r4}], [%r2];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
WAIT:
  ret;
}
"""

# Warp 0 writes shared memory, warp 1 reads it: with and without a barrier between.
def neighbours(barrier: bool) -> str:
    return HEAD + """
.visible .entry neighbours(.param .u64 out) .reqntid 64
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[256];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, words; add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  """ + ("bar.sync 0;" if barrier else "") + """
  xor.b32 %r5, %r2, 128; add.u32 %r5, %r3, %r5;
  ld.shared.u32 %r6, [%r5];
  ld.param.u64 %rd1, [out]; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
"""
