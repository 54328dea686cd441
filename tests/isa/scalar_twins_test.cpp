// Rules of the scalar families: illegal twins, refused by the validator and by ptxas.
#include <gtest/gtest.h>

#include "support/twins.h"

namespace drywell::test {
namespace {

TEST(ScalarTwins, Integers) {
  check_twins({
      {"add.sat.u32 %r1, %r2, %r3", Code::E1301},
      {"add.sat.s16x2 %r1, %r2, %r3", Code::E1301},
      {"sub.u16x2 %r1, %r2, %r3", Code::E1101},
      {"min.relu.u16x2 %r1, %r2, %r3", Code::E1302},
      {"min.relu.s64 %rd1, %rd2, %rd3", Code::E1302},
      {"min.relu.s16x2 %r1, %r2, %r3", std::nullopt},
      {"max.s16x2.relu %r1, %r2, %r3", std::nullopt},
      {"add.u16x2 %r1, %r2, %r3", std::nullopt, "sm_90a"},
      {"mad24.lo.sat.s32 %r1, %r2, %r3, %r4", Code::E1301},
      {"add.cc.u16 %rs1, %rs2, %rs3", Code::E1101},
      {"madc.wide.u32 %rd1, %r2, %r3, %rd4", Code::E1101},
      {"mad.lo.cc.u64 %rd1, %rd2, %rd3, %rd4", std::nullopt},
      {"lop3.xor.b32 %r1|%p1, %r2, %r3, %r4, 232, %p2", Code::E1101},
      {"lop3.b32 %r1, %r2, %r3, %r4, %r5", Code::E1102},
      {"lop3.or.b32 _|%p1, %r2, %r3, %r4, 232, !%p2", std::nullopt},
      {"bfe.b32 %r1, %r2, %r3, %r4", Code::E1101},
      {"prmt.f4e.b32 %r1, %r2, %r3, %r4", std::nullopt},
      {"popc.b64 %rd1, %rd2", Code::E1201},
  });
}

// PTX ISA, predicate constants; ptxas takes !p in logic, too.
TEST(ScalarTwins, PredicateOperands) {
  check_twins({
      {"selp.b32 %r1, %r2, %r3, 1", std::nullopt},
      {"setp.eq.and.u32 %p1, %r1, %r2, 0", std::nullopt},
      {"setp.eq.or.f32 %p1, %f1, %f2, !1", std::nullopt},
      {"set.lt.and.u32.u32 %r1, %r2, %r3, 1", std::nullopt},
      {"vote.sync.ballot.b32 %r1, 1, -1", std::nullopt},
      {"vote.sync.all.pred %p1, 0, -1", std::nullopt},
      {"bar.red.popc.u32 %r1, 0, 1", std::nullopt},
      {"barrier.cta.red.and.pred %p1, 0, 64, 1", std::nullopt},
      {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 232, 1", std::nullopt},
      {"and.pred %p1, !%p2, %p3", std::nullopt},
      {"not.pred %p1, !%p2", std::nullopt},
      {"mov.pred %p1, !%p2", std::nullopt},
      {"or.b32 %r1, !%r2, %r3", Code::E1102},
      {"mov.b32 %r1, !%r2", Code::E1102},
      {"mapa.shared::cluster.u32 %r1, 64, %r3", std::nullopt},
      {"getctarank.shared::cluster.u32 %r1, 64", std::nullopt},
      {"isspacep.global %p1, 64", std::nullopt},
  });
}

TEST(ScalarTwins, Stack) {
  check_twins({
      {"alloca.u64 %rd1, %rd2, 3", Code::E1114},
      {"alloca.u64 %rd1, %rd2, 0", Code::E1114},
      {"alloca.u64 %rd1, %rd2, %r1", Code::E1102},
      {"alloca.u64 %rd1, 16", std::nullopt},
      {"alloca.u32 %r1, %r2, 4096", std::nullopt},
      {"stackrestore.u64 16", Code::E1102},
      {"stacksave.u32 %r1", std::nullopt},
  });
}

TEST(ScalarTwins, Comparisons) {
  check_twins({
      {"setp.lo.b32 %p1, %r1, %r2", Code::E1306},
      {"setp.lt.b32 %p1, %r1, %r2", Code::E1306},
      {"setp.eq.ftz.bf16 %p1, %rs1, %rs2", Code::E1304},
      {"setp.eq.f16 %p1|%p2, %rs1, %rs2", Code::E1102},
      {"setp.eq.and.ftz.f16x2 %p1|%p2, %r2, %r3, !%p3", std::nullopt},
      {"set.eq.and.u32.u32 %r1, %r2, %r3", Code::E1305},
      {"set.equ.u32.u32 %r1, %r2, %r3", Code::E1101},
      {"set.eq.ftz.u32.f64 %r1, %fd2, %fd3", Code::E1304},
      {"set.eq.f16.bf16 %rs1, %rs2, %rs3", Code::E1306},
      {"set.eq.bf16x2.f16x2 %r1, %r2, %r3", Code::E1306},
      {"set.eq.bf16.f16 %rs1, %rs2, %rs3", std::nullopt},
      {"slct.ftz.u32.s32 %r1, %r2, %r3, %r4", Code::E1304},
      {"testp.finite.ftz.f32 %p1, %f1", Code::E1101},
  });
}

TEST(ScalarTwins, Video) {
  check_twins({
      {"vadd.u32.u32.u32 %r1, %r2.h10, %r3", Code::E1480},
      {"vadd.u32.u32.u32 %r1, %r2.h1, %r3", std::nullopt},
      {"vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4", Code::E1480},
      {"vadd4.u32.u32.u32 %r1, %r2.b654, %r3, %r4", Code::E1480},
      {"vadd4.u32.u32.u32 %r1.b31, %r2.b7654, %r3, %r4", std::nullopt},
      {"vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4", Code::E1481},
      {"vadd.u32.u32.u32 %r1.b0, %r2, %r3", Code::E1481},
      {"vmad.s32.s32.s32 %r1, %r2, -%r3, -%r4", Code::E1482},
      {"vmad.s32.s32.s32.po %r1, -%r2, %r3, %r4", Code::E1482},
      {"add.u32 %r1, %r2.b1, %r3", Code::E1102},
  });
}

TEST(ScalarTwins, Floats) {
  check_twins({
      {"fma.f64 %fd1, %fd2, %fd3, %fd4", Code::E1101},
      {"sqrt.approx.f64 %fd1, %fd2", Code::E1101},
      {"rcp.approx.f64 %fd1, %fd2", Code::E1101},
      {"rsqrt.rn.f32 %f1, %f2", Code::E1101},
      {"min.NaN.f64 %fd1, %fd2, %fd3", Code::E1101},
      {"max.abs.f32 %f1, %f2, %f3", Code::E1303},
      {"max.xorsign.abs.f32 %f1, %f2, %f3, %f4", Code::E1303},
      {"max.NaN.abs.f32 %f1, %f2, %f3, %f4", std::nullopt},
      {"add.sat.f32x2 %rd1, %rd2, %rd3", Code::E1101},
      {"add.f32x2 %rd1, %rd2, %rd3", Code::E1210, "sm_90a"},
      {"add.rz.f16 %rs1, %rs2, %rs3", Code::E1101},
      {"add.sat.bf16 %rs1, %rs2, %rs3", Code::E1301},
      {"add.ftz.bf16 %rs1, %rs2, %rs3", Code::E1304},
      {"fma.rn.sat.relu.f16 %rs1, %rs2, %rs3, %rs4", Code::E1301},
      {"fma.rn.ftz.relu.f16 %rs1, %rs2, %rs3, %rs4", std::nullopt},
      {"fma.rn.ftz.oob.f16 %rs1, %rs2, %rs3, %rs4", Code::E1101},
      {"min.xorsign.f16 %rs1, %rs2, %rs3", Code::E1303},
      {"neg.ftz.bf16 %rs1, %rs2", Code::E1304},
      {"ex2.approx.ftz.f16 %rs1, %rs2", Code::E1304},
      {"ex2.approx.bf16 %rs1, %rs2", Code::E1304},
      {"tanh.approx.ftz.f32 %f1, %f2", Code::E1101},
      {"add.ftz.f32.f16 %f1, %rs2, %f3", Code::E1101},
  });
}

TEST(ScalarTwins, Conversions) {
  check_twins({
      {"cvt.f32.f64 %f1, %fd2", Code::E1101},
      {"cvt.rn.f32.f32 %f1, %f2", Code::E1101},
      {"cvt.rn.s32.f32 %r1, %f2", Code::E1101},
      {"cvt.sat.u32.u16 %r1, %rs2", Code::E1301},
      {"cvt.sat.u32.s16 %r1, %rs2", std::nullopt},
      {"cvt.sat.f32.bf16 %f1, %rs2", Code::E1301},
      {"cvt.s32.f32 %r1, %f2", Code::E1101},
      {"cvt.rn.bf16.u8 %rs1, %r2", Code::E1311},
      {"cvt.rn.sat.bf16.s32 %rs1, %r2", Code::E1301},
      {"cvt.rni.ftz.s32.f64 %r1, %fd2", Code::E1304},
      {"cvt.ftz.f64.f16 %fd1, %rs2", Code::E1304},
      {"cvt.rm.relu.f16.f32 %rs1, %f2", Code::E1302},
      {"cvt.rn.sat.relu.f16.f32 %rs1, %f2", Code::E1301},
      {"cvt.rn.ftz.relu.f16.f32 %rs1, %f2", Code::E1304},
      {"cvt.rn.f16.f16 %rs1, %rs2", Code::E1312},
      {"cvt.sat.bf16.bf16 %rs1, %rs2", Code::E1101},
      {"cvt.rna.relu.tf32.f32 %r1, %f2", Code::E1302},
      {"cvt.rz.relu.satfinite.tf32.f32 %r1, %f2", Code::E1210, "sm_90a"},
      {"cvt.rz.relu.satfinite.tf32.f32 %r1, %f2", std::nullopt},
      {"cvt.rs.f16x2.f32 %r1, %f2, %f3, %r4", Code::E1210, "sm_100f"},
      {"cvt.rn.ue8m0x2.f32 %rs1, %f2, %f3", Code::E1101},
      {"cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3}, %r2", Code::E1310},
      {"cvt.rn.satfinite.e2m3x2.f16x2 %rs1, %r2", Code::E1211},
      {"cvt.rn.satfinite.e4m3x2.bf16x2 %rs1, %r2", Code::E1211},
      {"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r1, %rs1, %rs2", Code::E1211},
      {"cvt.f16.bf16 %rs1, %rs2", std::nullopt},
      {"cvt.bf16.f16 %rs1, %rs2", std::nullopt, "sm_90a"},
      {"cvt.f16.f16 %rs1, %rs2", std::nullopt},
      {"cvt.rn.f32.bf16 %f1, %rs2", std::nullopt, "sm_90a"},
      {"cvt.rm.ftz.f32.bf16 %f1, %rs2", std::nullopt, "sm_90a"},
      {"cvt.rz.f64.bf16 %fd1, %rs2", std::nullopt, "sm_90a"},
      {"cvt.rn.f32.f16 %f1, %rs2", Code::E1302},
      {"cvt.rn.f64.f32 %fd1, %f2", Code::E1302},
      {"cvt.rni.f32.bf16 %f1, %rs2", Code::E1101},
      {"cvt.pack.sat.u2.s32.b32 %r1, %r2, %r3, %r4", std::nullopt},
      {"cvt.pack.sat.s2.s32.b32 %r1, 1, 2, 3", std::nullopt},
      {"cvt.pack.sat.s16.s32 %r1, 31, %r2", std::nullopt},
      {"cvt.pack.sat.u2.s32 %r1, %r2, %r3", Code::E1101},
      {"cvt.pack.sat.u8.s32 %r1, %r2, %r3", Code::E1101},
      {"cvt.pack.u16.s32 %r1, %r2, %r3", Code::E1101},
      {"cvt.rn.satfinite.relu.f16.f32 %rs1, %f2", std::nullopt},
      {"cvt.u16.u32 %r1, %rd2", std::nullopt},
      {"cvt.rni.s32.f32 %rs1, %f2", Code::E1201},
  });
}

// PTX ISA 9.4.1: an untyped register may be wider than the float in it, but not with bf16 and tf32.
TEST(ScalarTwins, FloatsInWiderRegisters) {
  check_twins({
      {"cvt.rn.f32.s32 %rd1, %r2", std::nullopt},
      {"cvt.rn.f32.s32 %fd1, %r2", Code::E1202},
      {"cvt.f32.f16 %f1, %r2", std::nullopt},
      {"cvt.f32.f16 %rd1, %rd2", std::nullopt},
      {"cvt.f32.f16 %f1, %f2", Code::E1202},
      {"cvt.f64.f32 %rd1, %rd2", std::nullopt},
      {"cvt.rn.f32.f64 %rd1, %fd2", std::nullopt},
      {"cvt.rn.f32.f64 %rd1, %r2", Code::E1201},
      {"cvt.rn.f16.f64 %r1, %rd2", std::nullopt},
      {"cvt.rn.relu.f16.f32 %r1, %rd2", std::nullopt},
      {"cvt.rn.satfinite.f16.f32 %rd1, %f2", std::nullopt},
      {"cvt.rni.f32.f32 %rd1, %rd2", std::nullopt},
      {"cvt.rni.f16.f16 %r1, %rd2", std::nullopt},
      {"cvt.rzi.u8.f16 %rd1, %r2", std::nullopt},
      {"cvt.rn.bf16.f32 %r1, %f2", Code::E1201},
      {"cvt.rn.bf16.f32 %rs1, %rd2", Code::E1201},
      {"cvt.f32.bf16 %rd1, %rs2", Code::E1201},
      {"cvt.f32.bf16 %f1, %r2", Code::E1201},
      {"cvt.f64.bf16 %rd1, %r2", Code::E1201},
      {"cvt.rn.bf16.s32 %r1, %r2", Code::E1201},
      {"cvt.rn.bf16.s32 %rs1, %rd2", Code::E1201},
      {"cvt.rzi.s32.bf16 %rd1, %rs2", Code::E1201},
      {"cvt.rn.bf16.f16 %r1, %rs2", Code::E1201},
      {"cvt.rni.bf16.bf16 %r1, %rs2", Code::E1201},
      {"cvt.rna.tf32.f32 %rd1, %f2", Code::E1201},
      {"cvt.rn.f16x2.f32 %rd1, %rd2, %f3", std::nullopt},
      {"cvt.rz.relu.f16x2.f32 %r1, %f2, %rd3", std::nullopt},
      {"cvt.rs.f16x2.f32 %rd1, %rd2, %f3, %r4", std::nullopt},
      {"cvt.rs.f16x2.f32 %r1, %f2, %f3, %rd4", Code::E1201},
      {"cvt.rn.f16x2.f32 %rd1, %fd2, %f3", Code::E1202},
      {"cvt.rn.bf16x2.f32 %rd1, %f2, %f3", Code::E1201},
      {"cvt.rn.bf16x2.f32 %r1, %f2, %rd3", Code::E1201},
      {"cvt.rn.f16x2.e4m3x2 %rd1, %rs2", Code::E1201},
      {"cvt.rn.satfinite.e4m3x2.f32 %r1, %f2, %f3", Code::E1201},
      {"cvt.rn.satfinite.e4m3x2.f16x2 %rs1, %rd2", Code::E1201},
      {"cvt.pack.sat.s16.s32 %rd1, %rd2, %r3", std::nullopt},
      {"cvt.pack.sat.u8.s32.b32 %rd1, %r2, %rd3, %rd4", std::nullopt},
      {"cvt.pack.sat.s16.s32 %r1, %f2, %r3", Code::E1202},
      {"cvt.pack.sat.s16.s32 %r1, %rs2, %r3", Code::E1201},
      {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %f4", std::nullopt},
  });
}

TEST(ScalarTwins, Barriers) {
  check_twins({
      {"bar.sync 16", Code::E1341},
      {"bar.sync 0, 33", Code::E1342},
      {"bar.red.popc.s32 %r1, 0, %p1", Code::E1101},
      {"bar.red.popc.aligned.u32 %r1, 0, %p1", Code::E1101},
      {"barrier.cta.red.or.aligned.pred %p1, 0, 64, !%p2", std::nullopt},
      {"barrier.red.aligned.popc.u32 %r1, 0, 64, %p1", std::nullopt},
      {"bar.cta.arrive 1, 64", std::nullopt},
      {"setmaxnreg.dec.sync.aligned.u32 20", Code::E1343},
      {"setmaxnreg.inc.sync.aligned.u32 264", Code::E1343},
      {"setmaxnreg.inc.sync.aligned.u32 256", std::nullopt},
  });
}

}  // namespace
}  // namespace drywell::test
