// The clock of other clusters, compared with a map from cluster and component to the largest value.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "sim/check/cross_cluster_clock.h"

namespace drywell::sim::check {
namespace {

using Key = CrossClusterClock::Key;

/// A clock and what it must be.
struct Both {
  CrossClusterClock clock;
  std::map<Key, uint32_t> expected;

  void add(const std::map<Key, uint32_t>& o) {
    for (const auto& [k, v] : o) expected[k] = std::max(expected[k], v);
  }
  void join(const Both& o) {
    clock.join(o.clock);
    add(o.expected);
  }
  void grow(const Both& o) {
    clock.grow(o.clock);
    add(o.expected);
  }
  void compare() const {
    for (const auto& [k, v] : expected) EXPECT_EQ(clock[k], v) << k.first << ", " << k.second;
  }
};

Both of_cluster(uint64_t serial, const std::vector<uint32_t>& values) {
  Both b{CrossClusterClock(serial, values), {}};
  for (uint32_t i = 0; i < values.size(); ++i) b.expected[{serial, i}] = values[i];
  return b;
}

TEST(CrossClusterClock, HasNothingOfWhatItWasNotTold) {
  EXPECT_EQ((CrossClusterClock()[{1, 0}]), 0u);
  const CrossClusterClock c(9, {0, 5});
  EXPECT_EQ((c[{9, 1}]), 5u);
  EXPECT_EQ((c[{9, 2}]), 0u);
  EXPECT_EQ((c[{1, 1}]), 0u);
  EXPECT_EQ((c[{uint64_t{1} << 31, 1}]), 0u);
}

TEST(CrossClusterClock, OfAClusterThatHasNotBegunIsEmpty) { EXPECT_TRUE(CrossClusterClock(3, {0, 0}).same(CrossClusterClock())); }

TEST(CrossClusterClock, WhatItHasAlreadyDoesNotChangeIt) {
  CrossClusterClock c(1, {4}), before = c;
  c.join(CrossClusterClock(1, {3}));
  EXPECT_TRUE(c.same(before));
  c.join(CrossClusterClock(70, {3}));
  before = c;
  c.join(CrossClusterClock(70, {2}));
  c.join(CrossClusterClock(1, {4}));
  EXPECT_TRUE(c.same(before));
}

TEST(CrossClusterClock, TakesTheSharedStateOfOneThatHasAll) {
  CrossClusterClock all(1, {4}), some(1, {3});
  all.join(CrossClusterClock(70, {3}));
  some.join(all);
  EXPECT_TRUE(some.same(all));
}

// Warps join each other and two places; places grow by what warps have and by what they did themselves.
TEST(CrossClusterClock, EqualsTheMapWhateverIsJoined) {
  std::mt19937 random(20);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  std::vector<Both> warps(20), places(2);
  std::vector<std::vector<uint32_t>> steps(warps.size(), std::vector<uint32_t>(3));
  for (int step = 0; step < 4000; ++step) {
    const uint32_t i = below(20);
    const uint64_t serial = i < 15 ? i + 1 : uint64_t{1} << (i + 2);
    Both& place = places[below(2)];
    switch (below(4)) {
      case 0: warps[i].join(place); break;
      case 1: warps[i].join(warps[below(20)]); break;
      case 2: place.grow(warps[i]); break;
      default: ++steps[i][below(3)]; place.grow(of_cluster(serial, steps[i]));
    }
    warps[i].compare();
    place.compare();
  }
}

// A barrier of the grid: what each of many clusters keeps is shared, and the whole has an end.
TEST(CrossClusterClock, AllClustersShareWhatOnePlaceTellsThem) {
  constexpr uint32_t kClusters = 600, kRounds = 20;
  std::vector<CrossClusterClock> known(kClusters);
  CrossClusterClock place;
  for (uint32_t round = 1; round <= kRounds; ++round) {
    for (uint32_t c = 0; c < kClusters; ++c) {
      place.grow(known[c]);
      place.grow(CrossClusterClock(c + 1, std::vector<uint32_t>(34, round)));
      for (uint32_t poll = 0; poll <= c; ++poll) known[poll].join(place);
    }
    for (const CrossClusterClock& k : known) ASSERT_TRUE(k.same(place));
    EXPECT_EQ((place[{kClusters, 33}]), round);
  }
}

}  // namespace
}  // namespace drywell::sim::check
