// Rules of loads, stores, atomics and cp.async: one illegal twin each (isa/legality/memory.cpp, atomic.cpp, async_copy.cpp).
#include <gtest/gtest.h>

#include "support/twins.h"

namespace drywell::test {
namespace {

TEST(MemoryTwins, Width) {
  check_twins({
      {"ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1]", Code::E1330},
      {"ld.global.v2.b128 {%rq1, %rq2}, [%rd1]", Code::E1331},
      {"ld.shared.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]", Code::E1331},
      {"ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]", Code::E1331, "sm_90a"},
      {"ld.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]", std::nullopt},
      {"ld.global.v8.b16 {%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7, %rs8}, [%rd1]", Code::E1331},
      {"ldu.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd5]", Code::E1331},
      {"ld.global.L2::evict_first.b32 %r1, [%rd1]", Code::E1339},
      {"st.global.L2::evict_last.v4.b32 [%rd1], {%r1, %r2, %r3, %r4}", Code::E1339},
      {"st.global.v4.b32 [%rd1], {%r1, _, %r3, %r4}", Code::E1358},
      {"st.global.v4.b64 [%rd1], {%rd1, _, %rd3, %rd4}", std::nullopt},
      {"ld.global.f16 %rs1, [%rd1]", Code::E1101},
      {"ld.global.f32 _, [%rd1]", Code::E1102},
  });
}

TEST(MemoryTwins, Order) {
  check_twins({
      {"ld.acquire.global.u32 %r1, [%rd1]", Code::E1332},
      {"ld.volatile.sys.shared.u32 %r1, [%r1]", Code::E1332},
      {"ld.relaxed.cta.local.u32 %r1, [%rd1]", Code::E1334},
      {"ld.volatile.const.u32 %r1, [%rd1]", Code::E1334},
      {"ld.volatile.local.u32 %r1, [%rd1]", Code::E1334},
      {"ld.relaxed.gpu.global.ca.b32 %r1, [%rd1]", Code::E1335},
      {"ld.volatile.global.ca.b32 %r1, [%rd1]", Code::E1335},
      {"ld.global.ca.L1::evict_last.b32 %r1, [%rd1]", Code::E1335},
      {"ld.volatile.global.L1::evict_first.u32 %r1, [%rd1]", Code::E1335},
      {"ld.relaxed.gpu.global.L1::evict_first.u32 %r1, [%rd1]", std::nullopt},
      {"ld.shared.L1::evict_first.u32 %r1, [%r1]", Code::E1336},
      {"ld.shared.L2::64B.u32 %r1, [%rd1]", Code::E1336},
      {"ld.shared.L2::cache_hint.u32 %r1, [%r1], %rd1", Code::E1336},
      {"st.local.L1::no_allocate.s32 [%rd1], %r1", Code::E1336},
      {"ld.nc.b32 %r1, [%rd1]", Code::E1337},
      {"ld.shared.nc.b32 %r1, [%r1]", Code::E1337},
      {"ld.relaxed.gpu.global.nc.b32 %r1, [%rd1]", Code::E1337},
      {"ld.global.lu.nc.b32 %r1, [%rd1]", Code::E1337},
      {"ld.mmio.acquire.sys.global.u32 %r1, [%rd1]", Code::E1338},
      {"ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1]", Code::E1338},
      {"ld.mmio.relaxed.sys.global.v2.u32 {%r1, %r2}, [%rd1]", Code::E1338},
      {"ld.mmio.relaxed.sys.shared.u32 %r1, [%r1]", Code::E1338},
      {"st.const.b32 [%rd1], %r1", Code::E1333},
      {"prefetch.shared.L1 [%rd1]", Code::E1101},
      {"applypriority.global.L2::evict_normal [%rd1], 64", Code::E1394},
  });
}

TEST(MemoryTwins, Atomics) {
  check_twins({
      {"atom.global.min.f32 %f1, [%rd1], %f2", Code::E1345},
      {"atom.global.add.s64 %rd1, [%rd1], %rd2", Code::E1345},
      {"atom.global.inc.s32 %r1, [%rd1], %r2", Code::E1345},
      {"atom.global.and.u32 %r1, [%rd1], %r2", Code::E1345},
      {"atom.global.exch.b16 %rs1, [%rd1], %rs2", Code::E1345},
      {"atom.global.cas.u32 %r1, [%rd1], %r2, %r3", Code::E1345},
      {"atom.global.add.b32 %r1, [%rd1], %r2", Code::E1345},
      {"atom.global.add.v2.u32 {%r1, %r2}, [%rd1], {%r3, %r4}", Code::E1345},
      {"atom.global.min.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4}", Code::E1345},
      {"atom.global.add.v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}", Code::E1345},
      {"atom.global.min.noftz.f16 %rs1, [%rd1], %rs2", Code::E1345},
      {"atom.shared.add.v2.f32 {%f1, %f2}, [%r1], {%f3, %f4}", Code::E1346},
      {"atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4}", Code::E1210, "sm_80"},
      {"atom.global.add.f16 %rs1, [%rd1], %rs2", Code::E1347},
      {"atom.shared.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd3", Code::E1336},
      {"atom.local.add.u32 %r1, [%rd1], 5", Code::E1101},
      {"atom.sc.gpu.global.add.u32 %r1, [%rd1], %r2", Code::E1101},
      {"atom.global.add.u32 %rd2, [%rd1], %r2", Code::E1201},
      {"red.acquire.gpu.global.add.s32 [%rd1], %r1", Code::E1101},
      {"red.global.exch.b32 [%rd1], %r1", Code::E1101},
      {"atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4}", std::nullopt},
      {"atom.global.max.noftz.v4.bf16x2 {%r1, %r2, %r3, %r4}, [%rd1], {%r1, %r2, %r3, %r4}", std::nullopt},
      {"atom.acq_rel.cluster.shared::cluster.add.u32 _, [%r3], %r2", std::nullopt},
  });
}

TEST(MemoryTwins, CpAsync) {
  check_twins({
      {"cp.async.ca.shared.global [%r1], [%rd1], 12", Code::E1348},
      {"cp.async.cg.shared.global [%r1], [%rd1], 8", Code::E1348},
      {"cp.async.ca.shared.global [%r1], [%rd1], 4, 5", Code::E1349},
      {"cp.async.ca.shared::cluster.global [%r1], [%rd1], 4", Code::E1101},
      {"cp.async.shared.global [%r1], [%rd1], 4", Code::E1101},
      {"cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 4, !%p1, %rd3", std::nullopt},
      {"cp.async.wait_group %r1", Code::E1102},
      {"cp.async.mbarrier.arrive.shared::cluster.b64 [%r1]", Code::E1101},
  });
}

}  // namespace
}  // namespace drywell::test
