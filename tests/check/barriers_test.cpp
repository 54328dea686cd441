// Mbarriers, named barriers and flags: what goes from those who release to those who acquire (PTX ISA 8.8 and 9.7.13).
#include <gtest/gtest.h>

#include "sim/check/barrier_instance.h"
#include "sim/check/cross_cluster_flags.h"
#include "sim/check/hang.h"
#include "tests/check/small_cluster.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kBar = 1024;

struct Barriers : testing::Test {
  Access access(uint32_t warp, uint32_t pc) { return parts.warps.access(small.warp(0, warp), pc, 1, Agent::thread, false); }
  WarpClock& clock(uint32_t warp) { return parts.warps.of(small.warp(0, warp)).clock; }
  void arrive(uint32_t warp) {
    const Access who = access(warp, 1);
    parts.mbarriers.note(kBar, {MbarrierEvent::arrive, 1, 1, 0, static_cast<uint16_t>(warp), false}, clock(warp).arrival(true, true), clock(warp).now.wide, who);
  }
  bool found(Rule r) const { return SmallCluster::found(parts.reporter, r); }

  SmallCluster small{1, 2};
  ClusterParts parts{small.cluster, small.state};
};

TEST_F(Barriers, AWaitAcquiresWhatTheArrivalsReleased) {
  parts.mbarriers.init(kBar, access(0, 0));
  clock(0).tick();
  const uint32_t then = clock(0).time();
  arrive(0);
  parts.mbarriers.complete_phase(kBar);
  const auto observed = parts.mbarriers.observe(kBar, 0, clock(1).now.seen);
  ASSERT_TRUE(observed.has_value());
  EXPECT_TRUE(observed->news);
  EXPECT_EQ(observed->released.seen[clock(0).self], then);
  clock(1).acquire(observed->released);
  EXPECT_FALSE(parts.mbarriers.observe(kBar, 0, clock(1).now.seen)->news) << "the second wait acquires nothing new";
}

// Before the first phase is complete, a wait for parity 1 returns true and acquires nothing.
TEST_F(Barriers, AWaitForThePhaseBeforeTheFirstAcquiresNothing) {
  parts.mbarriers.init(kBar, access(0, 0));
  EXPECT_FALSE(parts.mbarriers.observe(kBar, 1, clock(1).now.seen).has_value());
}

TEST_F(Barriers, ASecondInitialisationIsReported) {
  EXPECT_NE(parts.mbarriers.init(kBar, access(0, 0)), 0u);
  EXPECT_EQ(parts.mbarriers.init(kBar, access(0, 0)), 0u) << "another lane of the same instruction";
  EXPECT_FALSE(found(Rule::double_init));
  clock(0).tick();
  parts.mbarriers.init(kBar, access(0, 1));
  EXPECT_TRUE(found(Rule::double_init));
}

TEST_F(Barriers, AfterInvalItMayBeInitialisedAgain) {
  parts.mbarriers.init(kBar, access(0, 0));
  parts.mbarriers.inval(kBar, access(0, 2), clock(0).now.seen);
  EXPECT_FALSE(parts.mbarriers.live(kBar));
  clock(0).tick();
  parts.mbarriers.init(kBar, access(0, 1));
  EXPECT_FALSE(found(Rule::double_init));
}

TEST_F(Barriers, AUseThatTheInitialisationDoesNotHappenBeforeIsReported) {
  parts.mbarriers.init(kBar, access(0, 0));
  parts.mbarriers.check_init(kBar, access(0, 1), clock(0).now.seen);
  EXPECT_FALSE(found(Rule::init_not_seen));
  parts.mbarriers.check_init(kBar, access(1, 1), clock(1).now.seen);
  EXPECT_TRUE(found(Rule::init_not_seen));
}

TEST_F(Barriers, AnArrivalIsReportedIfNoWaitObservedThePhaseBefore) {
  parts.mbarriers.init(kBar, access(0, 0));
  arrive(0);
  parts.mbarriers.complete_phase(kBar);
  arrive(0);
  EXPECT_TRUE(found(Rule::phase_not_observed));
}

TEST_F(Barriers, TheLedgerKeepsThisPhaseAndTheOneBefore) {
  parts.mbarriers.init(kBar, access(0, 0));
  arrive(0);
  parts.mbarriers.complete_phase(kBar);
  arrive(1);
  const BarrierState* b = parts.mbarriers.find(kBar);
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(b->last_ledger.size(), 1u);
  EXPECT_EQ(b->last_ledger[0].warp, 0u);
  ASSERT_EQ(b->ledger.size(), 1u);
  EXPECT_EQ(b->ledger[0].warp, 1u);
  EXPECT_EQ(parts.mbarriers.find(kBar + 8), nullptr);
}

TEST_F(Barriers, AClusterThatEndedHasNoHang) {
  small.warp(0, 0).alive = small.warp(0, 1).alive = 0;
  EXPECT_EQ(HangExplanation(small.cluster, parts.mbarriers, parts.accesses, parts.warps).text(), "");
}

TEST_F(Barriers, AHangNamesTheWarpThatDidNotArrive) {
  parts.mbarriers.init(kBar, access(0, 0));
  small.cluster.ctas[0]->smem.make_mbarrier(kBar).init(1);
  arrive(1);
  parts.mbarriers.complete_phase(kBar);
  small.warp(0, 0).active = kFullMask;
  small.warp(0, 0).block = {.reason = BlockReason::mbarrier, .address = kBar, .parity = 1};
  small.warp(0, 1).alive = 0;
  const HangExplanation hang(small.cluster, parts.mbarriers, parts.accesses, parts.warps);
  EXPECT_NE(hang.text().find("-> mbarrier 0x400/0 -> warp 1\n"), std::string::npos) << hang.text();
  EXPECT_EQ(hang.graph().edges.size(), 2u) << "warp 0 waits; warp 1 came in the phase before";
}

TEST(Instance, EveryWarpAcquiresWhatAllArrivalsReleased) {
  BarrierInstance barrier;
  Message one, two;
  one.seen.raise(3, 5);
  two.seen.raise(4, 6);
  const auto first = barrier.arrive(one), second = barrier.arrive(two);
  EXPECT_EQ(first->seen[4], 6u);
  EXPECT_EQ(second->seen[3], 5u);
  barrier.complete();
  EXPECT_EQ(barrier.arrive({})->seen[3], 0u) << "the next instance";
}

struct FlagClocks : testing::Test {
  FlagClocks() {
    for (WarpClock* c : {&writer, &reader}) c->self = c == &writer ? 2 : 3, c->now.seen.raise(c->self, 1);
  }
  uint32_t known() const { return reader.now.seen[writer.self]; }
  static constexpr Ordering kRelease{.strong = true, .release = true}, kAcquire{.strong = true, .acquire = true}, kRelaxed{.strong = true};
  WarpClock writer, reader;
  Flags flags{false};
  OwnClocks one{1}, two{2};
};

TEST_F(FlagClocks, AReleaseIsAcquired) {
  flags.store(0x100, 0, 0, kRelease, writer);
  flags.load(0x100, 0, 0, kAcquire, reader);
  EXPECT_EQ(known(), 1u);
}

TEST_F(FlagClocks, AnotherPlaceTellsNothing) {
  flags.store(0x100, 0, 0, kRelease, writer);
  flags.load(0x108, 0, 0, kAcquire, reader);
  EXPECT_EQ(known(), 0u);
}

TEST_F(FlagClocks, ARelaxedStoreReleasesWhatAFenceCovered) {
  flags.store(0x100, 0, 0, kRelaxed, writer);
  flags.load(0x100, 0, 0, kAcquire, reader);
  EXPECT_EQ(known(), 0u);
  writer.fenced = writer.release();
  flags.store(0x100, 0, 0, kRelaxed, writer);
  flags.load(0x100, 0, 0, kAcquire, reader);
  EXPECT_NE(known(), 0u);
}

TEST_F(FlagClocks, ARelaxedLoadIsHearsay) {
  flags.store(0x100, 0, 0, kRelease, writer);
  flags.load(0x100, 0, 0, kRelaxed, reader);
  EXPECT_EQ(known(), 0u);
  EXPECT_EQ(reader.observed.seen[writer.self], 1u) << "for the next acquiring fence";
}

// Lanes of one warp take a lock in turns.
TEST_F(FlagClocks, ALaneLearnsWhatAnotherLaneOfItsWarpReleased) {
  const auto knows = [&](uint32_t lane, uint32_t of, uint32_t step) { return writer.knows_step(LaneMask{1} << lane, LaneMask{1} << of, step); };
  EXPECT_FALSE(knows(1, 0, 1));
  flags.store(0x100, 0, 0, kRelease, writer);
  const uint32_t later = writer.time();
  flags.load(0x100, 0, 1, kRelaxed, writer);
  EXPECT_FALSE(knows(1, 0, 1)) << "no acquire";
  flags.load(0x100, 0, 1, kAcquire, writer);
  EXPECT_TRUE(knows(1, 0, 1));
  EXPECT_FALSE(knows(1, 0, later)) << "what lane 0 did behind its release";
  EXPECT_FALSE(knows(1, 2, 1)) << "lane 2 has released nothing";
  EXPECT_FALSE(knows(3, 0, 1)) << "lane 3 has acquired nothing";
  EXPECT_TRUE(knows(3, 3, later)) << "its own steps";
  writer.meet();
  EXPECT_FALSE(knows(1, 0, 1)) << "a meeting tells more, and begins anew";
}

// Scopes .cta and .cluster do not reach another cluster.
TEST_F(FlagClocks, ClustersHearOfEachOtherWithinTheScope) {
  CrossClusterFlag place;
  exchange_cross_cluster(place, one, writer, {.strong = true, .release = true, .cross_cluster = false}, false, true);
  exchange_cross_cluster(place, two, reader, kAcquire, true, false);
  EXPECT_TRUE(reader.now.cross_cluster.same(CrossClusterKnowledge{}));
  exchange_cross_cluster(place, one, writer, kRelease, false, true);
  exchange_cross_cluster(place, two, reader, kAcquire, true, false);
  EXPECT_FALSE(reader.now.cross_cluster.same(CrossClusterKnowledge{}));
}

// A thread fenced, and another one stored the flag behind a barrier: no release, but it has been observed.
TEST_F(FlagClocks, AFenceOfAnotherThreadIsHearsay) {
  CrossClusterFlag place;
  writer.now.fenced_gpu = writer.now.seen;
  exchange_cross_cluster(place, one, writer, kRelaxed, false, true);
  exchange_cross_cluster(place, two, reader, kAcquire, true, false);
  EXPECT_EQ((reader.now.cross_cluster.known[{1, writer.self}]), 0u);
  EXPECT_EQ((reader.now.cross_cluster.fenced[{1, writer.self}]), 1u);
}

// One warp may release the same into a hundred places: those who hear of several of them share it.
TEST_F(FlagClocks, EqualClocksOfAClusterAreOneObject) {
  Clock later = writer.now.seen;
  const CrossClusterClock first = one.of(writer.now.seen);
  later.raise(9, 9);
  EXPECT_FALSE(one.of(later).same(first));
  EXPECT_TRUE(one.of(writer.now.seen).same(first));
}

TEST(WarpClocks, OneLaneReleasesItsOwnAndWhatAllLanesDidBeforeTheyMet) {
  WarpClock c;
  c.self = 2;
  c.now.seen.raise(c.self, 5);
  c.join_lanes(0x1, kFullMask);
  EXPECT_EQ(c.now.seen[c.self + 1], 0u) << "one of many lanes";
  c.join_lanes(0x3, kFullMask);
  EXPECT_EQ(c.now.seen[c.self + 1], 5u) << "several lanes";
  c.tick();
  c.join_lanes(0x1, 0x1);
  EXPECT_EQ(c.now.seen[c.self + 1], 6u) << "the only lane there is";
  c.tick();
  c.meet();
  EXPECT_EQ(c.now.seen[c.self + 1], 7u);
  EXPECT_EQ(c.met, 8u) << "what follows is another step";
}

TEST_F(FlagClocks, KnowledgeThatIsTheSameHasTheSameNumber) {
  CrossClusterTable table;
  EXPECT_EQ(table.number(CrossClusterKnowledge{}, 0), 0u);
  CrossClusterFlag place;
  exchange_cross_cluster(place, one, writer, kRelease, false, true);
  exchange_cross_cluster(place, two, reader, kAcquire, true, false);
  const uint32_t number = table.number(reader.now.cross_cluster, 0);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(table.number(reader.now.cross_cluster, number), number);
}

}  // namespace
}  // namespace drywell::sim::check
