// Who waits for what (docs/function-vs-time.md, "Waits").
#include "sim/timing/wake_list.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

/// Two CTAs of two warps, all of which wait for the barrier at offset 1024 of CTA 0.
struct Waits : testing::Test {
  Waits() {
    for (uint32_t rank : {0u, 1u}) {
      auto cta = std::make_unique<Cta>();
      cta->cluster = &cluster;
      cta->rank = rank;
      cta->smem.reset(4096);
      cta->warps.resize(2);
      for (Warp& w : cta->warps) w.cta = cta.get();
      cluster.ctas.push_back(std::move(cta));
    }
    bar().init(1);
    list.reset(cluster);
    for (uint32_t id = 0; id < 4; ++id) {
      warp(id).block = {.reason = BlockReason::mbarrier, .address = 1024, .parity = 0};
      list.add(id, warp(id));
    }
  }
  Warp& warp(uint32_t id) { return cluster.ctas[id / 2]->warps[id % 2]; }
  Mbarrier& bar() { return cluster.ctas[0]->smem.make_mbarrier(1024); }
  void complete_phase() {
    bool completed = false;
    bar().arrive(1, completed);
    cluster.wake_all();
  }
  const ArchConfig arch = load_arch("sm_100a");
  const WakeTimes at{110, 120, 130};
  Cluster cluster;
  WakeList list;
};

// A phase completed by a thread shows arrive_visible (29) later and wakes a waiter wake (36) after that; one completed by an engine wakes
// it 36 later.
TEST_F(Waits, ThreadsAndEnginesWakeAtTheirTimes) {
  EXPECT_EQ(thread_wake(arch, 1000).mbarrier, 1000u + 29 + 36);
  EXPECT_EQ(async_wake(arch, 1000).mbarrier, 1000u + 36);
}

TEST_F(Waits, NobodyGoesOnWhileNothingChanges) {
  bool completed = false;
  bar().arrive(1, completed);
  EXPECT_TRUE(list.changed(at).empty()) << "no CTA was woken";
}

TEST_F(Waits, AChangeThatDoesNotEndTheWaitLeavesIt) {
  cluster.wake_all();
  EXPECT_TRUE(list.changed(at).empty());
  EXPECT_TRUE(list.holds(0));
}

TEST_F(Waits, ACompletedPhaseWakesAllOnce) {
  complete_phase();
  const auto woken = list.changed(at);
  ASSERT_EQ(woken.size(), 4u);
  for (const WakeList::Wake& w : woken) EXPECT_EQ(w.at, 110u);
  EXPECT_FALSE(list.holds(2));
  cluster.wake_all();
  EXPECT_TRUE(list.changed(at).empty());
}

TEST_F(Waits, AnotherPhaseIsNotWaitedFor) {
  warp(3).block.parity = 1;
  bool completed = false;
  bar().arrive(1, completed);
  bar().arrive(1, completed);  // phases 0 and 1 are over; the last completed one has parity 1
  cluster.wake_all();
  const auto woken = list.changed(at);
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_EQ(woken[0].warp, 3u);
}

TEST_F(Waits, OneThatTimedOutIsNotWoken) {
  list.remove(1);
  EXPECT_FALSE(list.holds(1));
  complete_phase();
  EXPECT_EQ(list.changed(at).size(), 3u);
}

TEST_F(Waits, ANamedBarrierHasItsOwnTime) {
  warp(2).block = {.reason = BlockReason::named_barrier, .address = 5};
  cluster.ctas[1]->barriers[5].generation = 1;
  cluster.wake_all();
  const auto woken = list.changed(at);
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_EQ(woken[0].warp, 2u);
  EXPECT_EQ(woken[0].at, 120u);
}

// All warps leave a cluster barrier at the cycle of its last arrival, in whatever order they look.
TEST_F(Waits, AClusterBarrierReleasesAllTogether) {
  warp(2).block = {.reason = BlockReason::cluster_barrier};
  EXPECT_EQ(list.cluster_barrier(1, 500), 500u);
  EXPECT_EQ(list.cluster_barrier(1, 700), 500u) << "the same instance";
  cluster.wake_all();
  const auto woken = list.changed(at);
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_EQ(woken[0].at, 500u);
  EXPECT_EQ(list.cluster_barrier(2, 900), 900u);
}

TEST_F(Waits, FreeColumnsWakeThoseThatAllocate) {
  warp(1).block = {.reason = BlockReason::tmem_alloc};
  const auto woken = list.allocators(140);
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_EQ(woken[0].warp, 1u);
  EXPECT_EQ(woken[0].at, 140u);
}

TEST(Stalls, EveryWaitHasAReason) {
  EXPECT_EQ(stall_of(BlockReason::mbarrier), Stall::mbarrier);
  EXPECT_EQ(stall_of(BlockReason::tmem_ld), Stall::tmem_wait);
  EXPECT_EQ(stall_of(BlockReason::wgmma), Stall::bulk_wait);
  EXPECT_EQ(stall_of(BlockReason::nanosleep), Stall::sleep);
}

}  // namespace
}  // namespace drywell::sim
