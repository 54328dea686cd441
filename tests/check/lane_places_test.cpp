// Which lanes of a warp use each other's data (sim/check/lane_places.h).
#include "sim/check/lane_places.h"

#include <gtest/gtest.h>

namespace drywell::sim::check {
namespace {

/// Lane l is at base + stride * l.
LanePlaces row(uint64_t base, uint32_t stride, uint32_t bytes = 4, LaneMask lanes = kFullMask, bool together = false, bool store = true) {
  LanePlaces p{{}, bytes, lanes, together, store, 0};
  for (uint32_t l = 0; l < kWarpSize; ++l) p.at[l] = base + stride * l;
  return p;
}

bool exchange(const LanePlaces& prior, const LanePlaces& now) {
  RecentPlaces r;
  const uint32_t n = r.add(prior);
  r.add(now);
  return r.exchange(n);
}

TEST(LanePlaces, ALaneUsesItsOwnData) {
  EXPECT_FALSE(exchange(row(0, 4), row(0, 4)));
  EXPECT_FALSE(exchange(row(0, 16, 16), row(8, 16, 4))) << "a part of its own";
  EXPECT_FALSE(exchange(row(0, 0), row(0, 0))) << "all lanes at one place, each of them before";
}

TEST(LanePlaces, ALaneUsesAnotherLanesData) {
  EXPECT_TRUE(exchange(row(0, 4), row(4, 4)));
  EXPECT_TRUE(exchange(row(0, 4), row(0, 0))) << "all lanes read what lane 0 stored";
  EXPECT_TRUE(exchange(row(0, 4), row(2, 4))) << "half of the neighbour's";
  EXPECT_FALSE(exchange(row(0, 4, 4, 0xFFFF), row(64, 0, 4, 1))) << "lane 16 stored nothing";
  EXPECT_TRUE(exchange(row(0, 4, 4, 0xFFFF), row(60, 0, 4, 1)));
}

TEST(LanePlaces, AMatrixInstructionMovesAllRowsTogether) {
  EXPECT_TRUE(exchange(row(0, 16, 16), row(0, 16, 16, kFullMask, true, false)));
  EXPECT_TRUE(exchange(row(0, 16, 16, 0xFF, true), row(0, 16, 16)));
  EXPECT_FALSE(exchange(row(0, 16, 16, kFullMask, true, false), row(0, 16, 16))) << "all lanes had come to the load";
  EXPECT_FALSE(exchange(row(0, 16, 16, kFullMask, true), row(0, 16, 16, kFullMask, true, false))) << "each lane has its own fragment again";
}

TEST(LanePlaces, LanesThatMetMayExchange) {
  RecentPlaces r;
  uint32_t n = r.add(row(0, 4));
  r.meet(0x3);  // lanes 0 and 1
  r.again(n, row(4, 4, 4, 0x1));
  EXPECT_FALSE(r.exchange(n));
  r.again(n, row(4, 4, 4, 0x2));
  EXPECT_TRUE(r.exchange(n)) << "lane 1 has not met lane 2";
  r.meet(0x6);
  r.again(n, row(4, 4, 4, 0x2));
  EXPECT_FALSE(r.exchange(n));
  r.again(n, row(0, 4, 4, 0x4));
  EXPECT_FALSE(r.exchange(n));
  r.again(n, row(0, 0, 4, 0x4));
  EXPECT_FALSE(r.exchange(n)) << "lane 2 met lane 1, which had met lane 0";
  r.again(n, row(8, 0, 4, 0x1));
  EXPECT_TRUE(r.exchange(n)) << "lane 0 met lane 1 before lane 1 met lane 2";
  r.meet();
  EXPECT_FALSE(r.knows(n));
  n = r.add(row(0, 4));
  EXPECT_TRUE(r.knows(n));
}

TEST(LanePlaces, OldAccessesAreForgotten) {
  RecentPlaces r;
  const uint32_t n = r.add(row(0, 4));
  for (int i = 0; i < 63; ++i) r.add(row(4096, 4));
  EXPECT_TRUE(r.knows(n));
  r.add(row(4096, 4));
  EXPECT_FALSE(r.knows(n));
  EXPECT_FALSE(r.knows(0));
}

TEST(LanePlaces, AnAccessInALoopHasOnePlaceOrNone) {
  RecentPlaces r;
  const uint32_t n = r.add(row(0, 4));
  EXPECT_TRUE(r.again(n, row(0, 4)));
  EXPECT_FALSE(r.again(n, row(128, 4)));
}

}  // namespace
}  // namespace drywell::sim::check
