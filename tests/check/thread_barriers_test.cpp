// Barriers of warps, CTAs and clusters in the checker: a warp that leaves has what all that arrived released (PTX ISA 9.7.13.1, .3).
#include "sim/check/thread_barriers.h"

#include <gtest/gtest.h>

#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

using B = ThreadBarriers;

TEST(ThreadBarriers, WhoLeavesANamedBarrierHasWhatTheOthersReleased) {
  MadeCluster made("bar.sync 1;");
  B barriers(*made.parts);
  const DecodedOp& op = made.program->code[0];
  const uint32_t then = made.clock(0).time();
  barriers.arrive(made.warp(0), 1, {.arrived = 32});
  barriers.arrive(made.warp(1), 1, {.arrived = 0});  // the instance is complete
  barriers.named(made.warp(1), op, kFullMask);
  EXPECT_EQ(made.clock(1).now.seen[made.clock(0).self], then);
  EXPECT_EQ(made.clock(1).met, made.clock(1).time()) << "its lanes have met";
}

TEST(ThreadBarriers, TheNextInstanceIsAnother) {
  MadeCluster made("bar.sync 1;");
  B barriers(*made.parts);
  barriers.arrive(made.warp(0), 1, {.arrived = 0});
  const uint32_t later = made.clock(0).time();
  barriers.arrive(made.warp(1), 1, {.arrived = 32});
  barriers.named(made.warp(1), made.program->code[0], kFullMask);
  EXPECT_LT(made.clock(1).now.seen[made.clock(0).self], later);
  EXPECT_EQ(made.clock(1).now.seen[made.clock(0).self], 0u) << "warp 0 was in the instance before";
}

struct Arrivals {
  MadeCluster made{"bar.sync 1;"};
  ThreadBarriers barriers{*made.parts};
  void arrive(uint32_t warp, uint32_t left, bool whole_cta = false) { barriers.arrive(made.warp(warp), 1, {.arrived = left, .whole_cta = whole_cta}); }
  void leave(uint32_t warp) { barriers.named(made.warp(warp), made.program->code[0], kFullMask); }
};

TEST(ThreadBarriers, AWarpThatDoesNotKnowTheInstanceBeforeIsReported) {
  Arrivals a;
  a.arrive(0, 32);
  a.arrive(0, 0);
  EXPECT_FALSE(a.made.found(Rule::barrier_mixed)) << "its own arrivals are in order";
  a.arrive(1, 32);
  EXPECT_TRUE(a.made.found(Rule::barrier_mixed));
}

TEST(ThreadBarriers, AWarpThatWaitedAtTheInstanceBeforeIsNot) {
  Arrivals a;
  a.arrive(0, 32);
  a.arrive(1, 0);
  a.leave(0);
  a.leave(1);
  a.arrive(1, 32);
  a.arrive(0, 0);
  EXPECT_FALSE(a.made.found(Rule::barrier_mixed));
}

TEST(ThreadBarriers, ABarrierOfTheWholeCtaTakesAnyWarp) {
  Arrivals a;
  a.arrive(0, 0, true);
  a.arrive(1, 0, true);
  EXPECT_FALSE(a.made.found(Rule::barrier_mixed));
}

TEST(ThreadBarriers, BarriersHaveNumbers) {
  MadeCluster made("bar.sync 1;");
  B barriers(*made.parts);
  barriers.arrive(made.warp(0), 1, {.arrived = 32});
  barriers.arrive(made.warp(1), 2, {.arrived = 32});
  barriers.named(made.warp(1), made.program->code[0], kFullMask);
  EXPECT_EQ(made.clock(1).now.seen[made.clock(0).self], 0u);
}

TEST(ThreadBarriers, AWarpMeetsWithAllItsLanes) {
  MadeCluster made("bar.warp.sync -1;");
  B barriers(*made.parts);
  const uint32_t before = made.clock(0).time();
  barriers.warp(made.warp(0), made.program->code[0], 0xFFFF);
  EXPECT_EQ(made.clock(0).time(), before);
  barriers.warp(made.warp(0), made.program->code[0], kFullMask);
  EXPECT_EQ(made.clock(0).met, before + 1);
}

// ThunderKittens' tensor memory is freed by warp 0 behind a cluster barrier at which only warp 0 arrives: the others have ended.
TEST(ThreadBarriers, AWarpThatEndedCountsAsArrivedAtTheCluster) {
  MadeCluster made("barrier.cluster.arrive;\nbarrier.cluster.wait;", 2);
  B barriers(*made.parts);
  made.clock(1).tick();
  const uint32_t then = made.clock(1).time();
  for (Warp* w : {&made.warp(1), &made.warp(0, 1), &made.warp(1, 1)}) w->alive = 0;
  barriers.arrive_at_cluster(made.warp(0), made.program->code[0], kFullMask);
  ++made.cluster->cluster_generation;
  barriers.leave_cluster(made.warp(0), made.program->code[1], kFullMask);
  EXPECT_EQ(made.clock(0).now.seen[made.clock(1).self], then);
}

TEST(ThreadBarriers, AWarpThatEndedCountsAsArrivedIfTheWholeCtaMeets) {
  for (const bool whole : {false, true}) {
    MadeCluster made("bar.sync 0;");
    B barriers(*made.parts);
    const uint32_t then = made.clock(1).time();
    made.warp(1).alive = 0;
    barriers.arrive(made.warp(0), 0, {.arrived = 0, .whole_cta = whole});
    barriers.named(made.warp(0), made.program->code[0], kFullMask);
    EXPECT_EQ(made.clock(0).now.seen[made.clock(1).self], whole ? then : 0u) << "a barrier with a count waits for threads, ended or not";
  }
}

// A warp that arrived and then went on and ended releases what it did before the arrival only.
TEST(ThreadBarriers, WhatAWarpDidAfterItsArrivalIsNotReleasedByItsEnd) {
  MadeCluster made("barrier.cluster.arrive;\nbarrier.cluster.wait;");
  B barriers(*made.parts);
  const uint32_t then = made.clock(1).time();
  barriers.arrive_at_cluster(made.warp(1), made.program->code[0], kFullMask);
  made.clock(1).tick();
  made.warp(1).alive = 0;
  barriers.arrive_at_cluster(made.warp(0), made.program->code[0], kFullMask);
  ++made.cluster->cluster_generation;
  barriers.leave_cluster(made.warp(0), made.program->code[1], kFullMask);
  EXPECT_EQ(made.clock(0).now.seen[made.clock(1).self], then);
}

struct OfCluster {
  explicit OfCluster(const std::string& arrive) : made(arrive + ";\nbarrier.cluster.wait;", 2), barriers(*made.parts) {}
  /// Warp 1 of CTA 1 leaves after warp 0 of CTA 0 has arrived at time `then`.
  void run() {
    then = made.clock(0).time();
    barriers.arrive_at_cluster(made.warp(0), made.program->code[0], kFullMask);
    barriers.arrive_at_cluster(made.warp(1, 1), made.program->code[0], kFullMask);
    ++made.cluster->cluster_generation;
    barriers.leave_cluster(made.warp(1, 1), made.program->code[1], kFullMask);
  }
  uint32_t known() { return made.clock(1, 1).now.seen[made.clock(0).self]; }
  MadeCluster made;
  B barriers;
  uint32_t then = 0;
};

TEST(ThreadBarriers, AClusterBarrierReleasesAcrossCtas) {
  OfCluster x("barrier.cluster.arrive");
  EXPECT_FALSE(x.made.parts->warps.knows_running(x.made.clock(1, 1).now.seen, 0));
  x.run();
  EXPECT_EQ(x.known(), x.then);
  EXPECT_TRUE(x.made.parts->warps.knows_running(x.made.clock(1, 1).now.seen, 0));
}

TEST(ThreadBarriers, ARelaxedArrivalReleasesNothing) {
  OfCluster x("barrier.cluster.arrive.relaxed");
  x.run();
  EXPECT_EQ(x.known(), 0u);
  EXPECT_EQ(x.made.clock(1, 1).now.executed[x.made.clock(0).self], x.then) << "it executed before all the same";
  EXPECT_TRUE(x.made.parts->warps.knows_running(x.made.clock(1, 1).now.seen, 0));
}

}  // namespace
}  // namespace drywell::sim::check
