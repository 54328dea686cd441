// Accesses of lanes in the checker: their cells, and the order that strong ones make (PTX ISA 8.4, 8.10).
#include "sim/check/memory_accesses.h"

#include <gtest/gtest.h>

#include "sim/check/map_edits.h"
#include "sim/check/tensor_allocation.h"
#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

/// Both warps have the address of s in %r0 and execute the same instructions.
struct Lanes {
  explicit Lanes(const std::string& body) : made("mov.u32 %r0, s;\n" + body), accesses(*made.parts) {
    made.skip(made.warp(0), 1);
    made.skip(made.warp(1), 1);
  }
  void pass(uint32_t warp, bool store, LaneMask lanes = kFullMask) {
    accesses.access(made.warp(warp), made.program->code[made.warp(warp).pc], lanes, Space::shared_cta, 4, store);  // before the bytes change
    made.skip(made.warp(warp), 1);
  }
  MadeCluster made;
  MemoryAccesses accesses;
};

TEST(MemoryAccesses, WarpsRaceForAWord) {
  Lanes x("st.shared.u32 [%r0], 1;\nst.shared.u32 [%r0], 2;");
  x.pass(0, true);
  EXPECT_TRUE(x.made.parts->reporter.all().empty());
  x.made.warp(1).pc = 2;
  x.pass(1, true);
  EXPECT_TRUE(x.made.found(Rule::shared_race));
}

TEST(MemoryAccesses, LanesOfAPartedWarpAreApart) {
  Lanes x("st.shared.u32 [%r0], %r0;\nld.shared.u32 %r1, [%r0];");
  x.pass(0, true);
  // Lanes 0 to 7 of warp 1 have waited for warp 0, the others have not.
  WarpClock& clock = x.made.clock(1);
  x.made.clock(0).join_lanes();
  clock.part(0xFF, kFullMask, x.made.clock(0).self, x.made.clock(0).time(), x.made.clock(0).now.seen);
  clock.acquire(x.made.clock(0).release());
  x.made.warp(1).pc = 2;
  x.pass(1, false, 0xFF);
  EXPECT_TRUE(x.made.parts->reporter.all().empty());
  x.made.warp(1).pc = 2;
  x.pass(1, false, 0xFF00);
  EXPECT_TRUE(x.made.found(Rule::lanes_unordered));
}

TEST(MemoryAccesses, AReleaseIsAcquiredThroughItsPlace) {
  Lanes x("st.release.cta.shared.u32 [%r0], %r0;\nld.acquire.cta.shared.u32 %r1, [%r0];");
  const uint32_t then = x.made.clock(0).time();
  x.pass(0, true);
  x.made.warp(1).pc = 2;
  x.pass(1, false);
  EXPECT_GE(x.made.clock(1).now.seen[x.made.clock(0).self], then);
  EXPECT_TRUE(x.made.parts->reporter.all().empty()) << "strong accesses do not race";
}

TEST(TensorAllocation, ColumnsAreUndefinedOnceMoreAfterTheirAllocation) {
  Lanes x(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;\nld.shared.u32 %r1, [%r0];\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;");
  TensorAllocation part(*x.made.parts);
  const Span cells{Memory::tmem, 0, 0, 0, 0, 32, 0, 4};
  const auto touch = [&](bool write) {
    MemoryShadow::Touch t{x.made.parts->accesses.add(x.made.parts->warps.access(x.made.warp(0), 0, kFullMask, write ? Agent::tmem_st : Agent::tmem_ld, write)),
                          x.made.clock(0), Rule::tensor_unwritten};
    x.made.parts->memory.touch(cells, t);
  };
  touch(true);
  x.made.pass(x.made.warp(0), part, &TensorAllocation::allocate);
  touch(false);
  EXPECT_TRUE(x.made.found(Rule::tensor_unwritten)) << "what was written before the allocation does not count";
}

TEST(TensorAllocation, FreeingIsAUseOfAllLanes) {
  Lanes x(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;\nld.shared.u32 %r1, [%r0];\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;");
  TensorAllocation part(*x.made.parts);
  x.made.pass(x.made.warp(0), part, &TensorAllocation::allocate);
  MemoryShadow::Touch t{x.made.parts->accesses.add(x.made.parts->warps.access(x.made.warp(1), 0, kFullMask, Agent::tmem_st, true)), x.made.clock(1)};
  x.made.parts->memory.touch({Memory::tmem, 0, 0, 0, 0, 32, 31, 1}, t);
  x.made.skip(x.made.warp(0), 1);
  x.made.pass(x.made.warp(0), part, &TensorAllocation::free);
  EXPECT_FALSE(x.made.parts->reporter.all().empty()) << "warp 1 stores, and warp 0 does not wait for it";
}

TEST(MapEdits, AnAcquireTakesWhatWasReleasedBefore) {
  Lanes x("fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;");
  MapEdits part(*x.made.parts, x.accesses);
  WarpClock& clock = x.made.clock(0);
  const uint32_t then = clock.time();
  part.acquire(x.made.warp(0), x.made.program->code[2], kFullMask);
  EXPECT_EQ(clock.now.map_acquired[clock.self], 0u) << "nothing was released";
  part.release(x.made.warp(0), x.made.program->code[1], kFullMask);
  EXPECT_EQ(clock.now.map_acquired[clock.self], 0u);
  part.acquire(x.made.warp(0), x.made.program->code[2], kFullMask);
  EXPECT_EQ(clock.now.map_acquired[clock.self], then);
}

TEST(MapEdits, AnEditIsAStoreOfTheMap) {
  Lanes x("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r0], %rd0;");
  MapEdits part(*x.made.parts, x.accesses);
  x.made.pass(x.made.warp(0), part, &MapEdits::edit, 1);
  x.made.pass(x.made.warp(1), part, &MapEdits::edit, 1);
  EXPECT_TRUE(x.made.found(Rule::shared_race));
}

}  // namespace
}  // namespace drywell::sim::check
