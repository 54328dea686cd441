// Who touches which cell, which CTAs live, and which operations are under way: parts of the checker without a launch.
#include "sim/check/memory_shadow.h"

#include <gtest/gtest.h>

#include "sim/check/async_operations.h"
#include "tests/check/small_cluster.h"

namespace drywell::sim::check {
namespace {

struct MemoryCells : testing::Test {
  AccessId access(uint32_t rank, uint32_t warp, uint32_t pc, bool write, Agent agent = Agent::thread) {
    return parts.accesses.add(parts.warps.access(small.warp(rank, warp), pc, kFullMask, agent, write));
  }
  WarpClock& clock(uint32_t rank, uint32_t warp) { return parts.warps.of(small.warp(rank, warp)).clock; }
  void touch(uint32_t rank, uint32_t warp, uint32_t pc, bool write, uint32_t of = 0) {
    parts.memory.touch({Memory::shared, of, 2048, 16}, access(rank, warp, pc, write), clock(rank, warp));
  }
  bool found(Rule r) const { return SmallCluster::found(parts.reporter, r); }
  bool clean() const { return parts.reporter.all().empty(); }

  SmallCluster small{2, 2};
  ClusterParts parts{small.cluster, small.state};
};

TEST_F(MemoryCells, AReadAfterAWriteOfTheSameWarpIsInOrder) {
  touch(0, 0, 0, true);
  touch(0, 0, 1, false);
  EXPECT_TRUE(clean());
}

TEST_F(MemoryCells, WarpsThatDoNotSynchroniseRace) {
  touch(0, 0, 0, true);
  touch(0, 1, 1, false);
  EXPECT_TRUE(found(Rule::shared_race));
}

TEST_F(MemoryCells, ABarrierOrdersThem) {
  touch(0, 0, 0, true);
  clock(0, 0).join_lanes();
  clock(0, 1).acquire(clock(0, 0).release());
  touch(0, 1, 1, false);
  EXPECT_TRUE(clean());
}

TEST_F(MemoryCells, BytesNobodyWroteAreReported) {
  touch(0, 0, 0, false);
  EXPECT_TRUE(found(Rule::shared_unwritten));
}

TEST_F(MemoryCells, WhatIsOverwrittenHasOneWriter) {
  parts.memory.overwrite(0, 2048, 16, access(0, 0, 0, true));
  touch(0, 0, 1, false);
  EXPECT_TRUE(clean());
}

TEST_F(MemoryCells, ColumnsThatWereForgottenAreUnwritten) {
  MemoryShadow::Touch t{access(0, 0, 0, true, Agent::tmem_st), clock(0, 0)};
  const Span cells{Memory::tmem, 0, 0, 0, 0, 32, 0, 4};
  parts.memory.touch(cells, t);
  parts.memory.forget_columns(0, 0, 32);
  MemoryShadow::Touch read{access(0, 0, 1, false, Agent::tmem_ld), clock(0, 0), Rule::tensor_unwritten};
  parts.memory.touch(cells, read);
  EXPECT_TRUE(found(Rule::tensor_unwritten));
}

TEST_F(MemoryCells, APeerMustBeKnownToRun) {
  touch(0, 0, 0, true, 1);
  EXPECT_TRUE(found(Rule::peer_not_started));
}

TEST_F(MemoryCells, APeerThatWasHeardOfRuns) {
  clock(0, 0).acquire(clock(1, 0).release());
  touch(0, 0, 0, true, 1);
  EXPECT_FALSE(found(Rule::peer_not_started));
}

TEST_F(MemoryCells, ACtaWaitsForItsVisitors) {
  clock(0, 0).acquire(clock(1, 0).release());
  touch(0, 0, 0, true, 1);
  parts.lifetimes.finish(1, *small.program);
  EXPECT_TRUE(found(Rule::peer_exited));
}

TEST_F(MemoryCells, ACtaThatHasHeardOfTheVisitMayEnd) {
  clock(0, 0).acquire(clock(1, 0).release());
  touch(0, 0, 0, true, 1);
  clock(1, 1).acquire(clock(0, 0).release());
  parts.lifetimes.finish(1, *small.program);
  EXPECT_FALSE(found(Rule::peer_exited));
}

TEST_F(MemoryCells, BulkStoresMustHaveReadTheirSources) {
  OperationQueue& q = parts.warps.of(small.warp(0, 0)).bulk.of(0, parts.components);
  q.issue();
  q.add_source(access(0, 0, 0, false, Agent::store));
  q.commit_group();
  parts.lifetimes.finish(0, *small.program);
  EXPECT_TRUE(found(Rule::exit_while_reading));
}

/// cp.async.bulk of 64 bytes into CTA 0, completing at the mbarrier at 1024.
AsyncOp bulk_load() {
  AsyncOp op;
  op.id = 1;
  op.payload = BulkCopy{.src = 0x1000, .dst = 2048, .bytes = 64, .mbar = 1024};
  return op;
}

TEST_F(MemoryCells, ACopyIsOverWithThePhaseOfItsMbarrier) {
  AsyncOperations async(parts, std::make_unique<KnownFootprints>());
  parts.mbarriers.init(1024, parts.warps.access(small.warp(0, 0), 0, 1, Agent::mbarrier, true));
  const AsyncOp op = bulk_load();
  async.moment(op, AsyncMoment::issue);
  EXPECT_FALSE(async.signal(1024, MbarrierEvent::arrive, 1)) << "an instruction's: nothing signals yet";
  async.moment(op, AsyncMoment::write);
  EXPECT_TRUE(async.signal(1024, MbarrierEvent::complete_tx, 64));
  EXPECT_TRUE(async.signal(1024, MbarrierEvent::phase_complete, 0));
  async.moment(op, AsyncMoment::signal);
  const auto observed = parts.mbarriers.observe(1024, 0, clock(0, 0).now.seen);
  ASSERT_TRUE(observed.has_value());
  clock(0, 0).acquire(observed->released);
  touch(0, 0, 1, false);
  EXPECT_TRUE(clean());
}

TEST_F(MemoryCells, ACopyInFlightIsNotReadYet) {
  AsyncOperations async(parts, std::make_unique<KnownFootprints>());
  async.moment(bulk_load(), AsyncMoment::issue);
  touch(0, 0, 1, false);
  EXPECT_FALSE(clean());
}

TEST_F(MemoryCells, ACtaWaitsForCopiesIntoIt) {
  AsyncOperations async(parts, std::make_unique<KnownFootprints>());
  async.moment(bulk_load(), AsyncMoment::issue);
  parts.lifetimes.finish(0, *small.program);
  EXPECT_TRUE(found(Rule::exit_before_landing));
}

TEST(Scales, AreAskedForAgainByProductsOfOtherOperands) {
  ScaleUse last;
  Umma u;
  u.accumulate = true;
  u.a = 1;
  u.b = 2;
  u.sfa = 16;
  EXPECT_FALSE(last.repeats(u)) << "the first";
  EXPECT_FALSE(last.repeats(u)) << "the same product";
  u.a = 3;
  u.b = 4;
  EXPECT_TRUE(last.repeats(u));
  u.a = 5;
  u.b = 6;
  u.sfa = 20;
  EXPECT_FALSE(last.repeats(u)) << "others";
  last.forget();
  u.a = 7;
  u.b = 8;
  EXPECT_FALSE(last.repeats(u)) << "written in between";
}

}  // namespace
}  // namespace drywell::sim::check
