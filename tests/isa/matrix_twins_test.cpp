// Rules of the warp-level matrix instructions: one illegal twin each (isa/legality/matrix.cpp, mma_sync.cpp).
#include <gtest/gtest.h>

#include "support/twins.h"

namespace drywell::test {
namespace {

TEST(MatrixTwins, Rows) {
  check_twins({
      {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3}, [%r5]", Code::E1380},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%rd1}, [%r5]", Code::E1201},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r5]", Code::E1102},
      {"ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r1}, [%r5]", Code::E1101},
      {"ldmatrix.sync.aligned.m16n16.x1.shared.b8x16.b6x16_p32 {%r1, %r2}, [%r5]", Code::E1382},
      {"ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32 {%r1}, [%r5]", Code::E1382},
      {"ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8x16.b6x16_p32 {%r1, %r2, %r3, %r4}, [%r5]", Code::E1383},
      {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r5]", Code::E1210, "sm_90a"},
      {"ldmatrix.sync.aligned.x4.m8n8.b16 {%r1, %r2, %r3, %r4}, [%rd5]", std::nullopt},
      {"stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r5], {%r1}", Code::E1101},
      {"stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r5], {%r1}", Code::E1380},
      {"stmatrix.sync.aligned.x4.m8n8.shared.b16.trans [%r5], {%r1, %r2, %r3, %r4}", std::nullopt},
      {"movmatrix.sync.aligned.m8n8.trans.b16 %rd1, %r2", Code::E1201},
  });
}

TEST(MatrixTwins, Products) {
  check_twins({
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3}, {%r4}, {%f1, %f2, %f3, %f4}", Code::E1380},
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, %r3, {%r1, %r2}", Code::E1102},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%f1, %f2, %f3, %f4}, {%r3, %r4}, {%f1, %f2, %f3, %f4}", Code::E1202},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {0, 0, 0, 0}", Code::E1381},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4}", Code::E1384},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%r1, %r2}", Code::E1384},
      {"mma.sync.aligned.m16n8k16.row.col.s32.s8.u4.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, {%r1, %r2, %r3, %r4}", Code::E1384},
      {"mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1}, {%r3}, {%f1, %f2, %f3, %f4}", Code::E1385},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1101},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1210},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", std::nullopt, "sm_120a"},
      {"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1387},
      {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7, %r8}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}", Code::E1384},
      {"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4}", std::nullopt},
  });
}

// PTX ISA 9.7.14.5.14 and ptxas 13.0: kinds, scale vectors, scale types, selectors and targets that go together.
TEST(MatrixTwins, Kinds) {
  check_twins({
      {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", std::nullopt, "sm_121f"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1210, "sm_120"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1384, "sm_120a"},
      {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5}, {%f1, %f2, %f3, %f4}", Code::E1101, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", std::nullopt, "sm_120f"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1210, "sm_100a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {3, 1}, %r10, {2, 3}", std::nullopt, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1386, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1386, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1101, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {4, 0}, %r10, {0, 0}", Code::E1399, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 2}, %r10, {0, 0}", Code::E1399, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 4}", Code::E1399, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, {%r9}, {%rs1, %rs2}, %f9, {0, %rs3}", std::nullopt, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, 5, {0, 0}, %r10, {0, 0}", Code::E1102, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, %r10", Code::E1102, "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1380, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {2, 1}, %r10, {0, 3}", std::nullopt, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1384, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1386, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {1, 0}, %r10, {0, 0}", Code::E1399, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1386, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 1}, %r10, {0, 3}", std::nullopt, "sm_121a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {2, 0}, %r10, {0, 0}", Code::E1399, "sm_120a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r9, {0, 0}, %r10, {0, 0}", Code::E1211, "sm_120a", false},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0, %r9, {0, 0}, %r10, {0, 0}", std::nullopt, "sm_120a"},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0, %r9, {0, 0}, %r10, {0, 0}", Code::E1210, "sm_120f"},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 1, %r9, {0, 0}, %r10, {0, 0}", Code::E1388, "sm_120a"},
      {"mma.sp.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0, %r9, {0, 0}, %r10, {0, 0}", Code::E1101, "sm_120a"},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0", std::nullopt, "sm_120a"},
      {"mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, %r5, 0", std::nullopt, "sm_120a", false},
  });
}

TEST(MatrixTwins, Sparse) {
  check_twins({
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 4", Code::E1388},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 2", Code::E1388, "sm_90a", false},
      {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, %r5, 1", Code::E1388},
      {"mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, %r5, 0", Code::E1384, "sm_90a"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4}, %r5, 0", Code::E1380},
      {"mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0", Code::E1385},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, %r6", Code::E1102},
  });
}

TEST(MatrixTwins, Wmma) {
  check_twins({
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1], 16", Code::E1202},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], 16", Code::E1380},
      {"wmma.load.b.sync.aligned.row.m8n8k32.global.u4 {%r1}, [%rd1], 32", Code::E1387},
      {"wmma.load.a.sync.aligned.row.m8n8k32.global.s8 {%r1}, [%rd1], 32", Code::E1385},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared::cluster.bf16 {%r1, %r2, %r3, %r4}, [%r9], 16", Code::E1101},
      {"wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2}", std::nullopt},
      {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2}", std::nullopt},
      {"wmma.mma.sync.aligned.row.col.m8n8k32.rn.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}", Code::E1384},
      {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}", std::nullopt, "sm_90a"},
      {"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}", Code::E1384, "sm_90a"},
      {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}", Code::E1384},
      {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}", Code::E1384},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r3, %r4}, {%r4, %r5}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", std::nullopt},
  });
}

TEST(MatrixTwins, Wgmma) {
  check_twins({
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, -1, 0, 1", std::nullopt, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0", Code::E1210, "sm_100a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1, 0, 0", Code::E1380, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %r1, %rd2, %p1, 1, 1, 0, 0", Code::E1201, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r1, %r2}, %rd1, %rd2, %p1, 1, 1, 0, 0", Code::E1384, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0", Code::E1384, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1", Code::E1385, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.u8 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}, %rd1, %rd2, %p1",
       Code::E1385, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 0, 1, 0, 0", Code::E1355, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1", Code::E1356, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd2, %p1, 1, 1, 0, 1", Code::E1356, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 2, 0", Code::E1356, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0", Code::E1356, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 2, %p1, 1, 1, 0, 0", Code::E1388, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0", Code::E1385, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, -1", std::nullopt, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e4m3.e5m2 {%r1, %r2}, {%r1, %r2, %r3, %r4}, %rd2, %r1, 0, %p1, 1, 1", std::nullopt, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 1, %p1, 1, 1", Code::E1388, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0", Code::E1102, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1", Code::E1101, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0", Code::E1101, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1", Code::E1101, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %r1, 1, %p1", Code::E1388, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.s32.s8.u8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, %r1, 0, %p1", Code::E1101, "sm_90a"},
      {"wgmma.mma_async.sp.sync.aligned.m64n40k64.s32.s8.u8 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}, %rd1, %rd2, "
       "%r1, 0, %p1",
       Code::E1385, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1", Code::E1101, "sm_90a"},
      {"wgmma.wait_group.sync.aligned -1", Code::E1357, "sm_90a"},
      {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1", Code::E1101, "sm_90a"},
  });
}

}  // namespace
}  // namespace drywell::test
