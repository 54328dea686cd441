// One warp instruction a cycle, of the warp that issued last or of the first CTA that has one ready: the one that has been ready longest, the least
// recently issued among equals (docs/function-vs-time.md, "Sub-partitions").
#include "sim/timing/issue_slot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

namespace drywell::sim {
namespace {

struct Slot : testing::Test {
  /// The next warp issues, and is ready again `after` cycles later.
  uint32_t issue(Time after = 1, bool shared = false) {
    const uint32_t warp = slot.warp();
    const Time t = slot.next();
    slot.issue(shared);
    slot.offer(static_cast<uint16_t>(warp), t + after);
    return warp;
  }
  IssueSlot slot;
};

TEST_F(Slot, IsEmptyUntilAWarpIsOffered) {
  EXPECT_EQ(slot.next(), kNever);
  slot.add(7);
  EXPECT_EQ(slot.next(), kNever);
  slot.offer(0, 12);
  EXPECT_EQ(slot.next(), 12u);
  EXPECT_EQ(slot.warp(), 7u);
}

TEST_F(Slot, TakesWhoHasBeenReadyLongest) {
  for (const uint32_t w : {0u, 1u, 2u}) slot.add(w);
  slot.offer(0, 30);
  slot.offer(1, 10);
  slot.offer(2, 20);
  for (const uint32_t w : {1u, 2u, 0u}) EXPECT_EQ(issue(100), w);
}

// On an H200 4,096 sums and 512 approximations of other warps take the sum of both times (fma_mufu of
// traces/hw/h200-2026-11-27-arithmetic.csv): the warps of sums go on until they end.
TEST_F(Slot, AWarpGoesOnAsLongAsItCan) {
  for (const uint32_t w : {0u, 1u, 2u}) slot.offer(slot.add(w), 10);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(issue(1), 0u);
  EXPECT_EQ(issue(5), 0u);
  EXPECT_EQ(issue(1), 1u);
  EXPECT_EQ(issue(1), 1u);
}

// On an H200 the CTA that came first ends first (traces/hw/h200-2026-11-29-order.txt).
TEST_F(Slot, ReadyWarpsOfTheFirstCtaGoFirst) {
  for (const uint32_t w : {0u, 1u, 2u, 3u}) slot.add(w, w / 2);
  slot.offer(0, 12);
  slot.offer(1, 11);
  slot.offer(2, 9);
  slot.offer(3, 10);
  EXPECT_EQ(issue(20), 2u);  // the others are not ready
  EXPECT_EQ(issue(20), 3u);
  slot.offer(2, 11);
  EXPECT_EQ(issue(20), 1u);
  EXPECT_EQ(issue(20), 0u);  // at 12, as warp 2, which has been ready since 11
  EXPECT_EQ(issue(20), 2u);
}

TEST_F(Slot, ACtaThatComesLaterWaitsForThoseThatAreThere) {
  for (const uint32_t w : {0u, 1u}) slot.add(w, w + 1);
  slot.remove(0);
  slot.add(2, 3);
  for (uint16_t place : {0, 1}) slot.offer(place, 5);
  EXPECT_EQ(issue(20), 1u);
}

TEST_F(Slot, EqualsTakeTurnsAtASharedUnit) {
  for (const uint32_t w : {0u, 1u, 2u}) slot.offer(slot.add(w), 10);
  std::vector<uint32_t> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(slot.warp());
    slot.issue(true);
    for (uint16_t w = 0; w < 3; ++w) slot.offer(w, 10);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST_F(Slot, AnInstructionOfManyMachineInstructionsKeepsTheSlot) {
  slot.offer(slot.add(0), 5);
  slot.offer(slot.add(1), 5);
  slot.issue(false, 12);
  slot.offer(0, 40);
  EXPECT_EQ(slot.next(), 17u);
}

TEST_F(Slot, IssuesOneInstructionACycle) {
  slot.offer(slot.add(0), 5);
  slot.offer(slot.add(1), 5);
  EXPECT_EQ(slot.next(), 5u);
  issue(1);
  EXPECT_EQ(slot.next(), 6u);
  issue(1);
  EXPECT_EQ(slot.next(), 7u);
  EXPECT_EQ(slot.issued(), 2u);
}

TEST_F(Slot, AWarpWhoseUnitIsTakenLetsOthersGo) {
  slot.offer(slot.add(0), 5);
  slot.offer(slot.add(1), 6);
  slot.put_off(9);
  EXPECT_EQ(slot.warp(), 1u);
  EXPECT_EQ(slot.next(), 6u);
}

TEST_F(Slot, AUnitThatIsTakenRefusesItsWholeClassButNoOther) {
  for (const uint32_t w : {0u, 1u, 2u, 3u}) slot.add(w);
  slot.offer(0, 5, 1);
  slot.offer(1, 5, 1);
  slot.offer(2, 5, 2);
  slot.offer(3, 8, 1);  // not tried before its own cycle
  slot.put_off(9);
  EXPECT_EQ(slot.warp(), 2u);
  EXPECT_EQ(slot.offered(1), 9u);
  EXPECT_EQ(slot.offered(3), 8u);
}

/// Warps that each have to be refused themselves.
struct OneByOne {
  std::vector<Time> at, last;
  std::vector<uint32_t> cta;
  size_t pick(Time free, std::optional<size_t> current) const {
    const auto order = [&](size_t i) { return std::tuple(std::max(at[i], free), cta[i], at[i], last[i]); };
    size_t best = 0;
    for (size_t i = 1; i < at.size(); ++i) {
      if (order(i) < order(best)) best = i;
    }
    return current.has_value() && std::max(at[*current], free) <= std::max(at[best], free) ? *current : best;
  }
};

// Units that accept an instruction every few cycles: the same warps issue at the same cycles as if each were refused alone.
class SeveralCtas : public Slot, public testing::WithParamInterface<uint32_t> {};
TEST_P(SeveralCtas, PuttingOffAClassChangesNoIssue) {
  std::mt19937 random(1);
  constexpr size_t kWarps = 9;
  OneByOne naive{std::vector<Time>(kWarps, 0), std::vector<Time>(kWarps, 0), {}};
  std::vector<uint16_t> unit(kWarps, 0);
  for (uint32_t w = 0; w < kWarps; ++w) naive.cta.push_back(w * 5 % kWarps % GetParam());
  for (uint32_t w = 0; w < kWarps; ++w) slot.offer(slot.add(w, naive.cta[w]), 0, 0);
  std::vector<Time> free_slot(3, 0), free_naive(3, 0);
  Time naive_next = 0;
  std::optional<size_t> current;
  for (int i = 0; i < 5000; ++i) {
    while (free_slot[unit[slot.warp()]] > slot.next()) slot.put_off(free_slot[unit[slot.warp()]]);
    size_t w = naive.pick(naive_next, current);
    while (free_naive[unit[w]] > std::max(naive.at[w], naive_next)) {
      naive.at[w] = free_naive[unit[w]];
      w = naive.pick(naive_next, current);
    }
    const Time t = std::max(naive.at[w], naive_next);
    ASSERT_EQ(slot.warp(), w) << "issue " << i;
    ASSERT_EQ(slot.next(), t);
    ASSERT_EQ(slot.offered(static_cast<uint16_t>(w)), naive.at[w]);
    const bool shared = random() % 3 == 0;
    slot.issue(shared);
    current = shared ? std::nullopt : std::optional(w);
    naive.last[w] = t;
    naive_next = t + 1;
    free_slot[unit[w]] = free_naive[unit[w]] = t + 1 + random() % 4;
    unit[w] = static_cast<uint16_t>(random() % 3);
    naive.at[w] = t + 1 + random() % 12;
    slot.offer(static_cast<uint16_t>(w), naive.at[w], unit[w]);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SeveralCtas, testing::Values(1, 3, 9));

TEST_F(Slot, ThePlaceOfAWarpThatLeavesGoesToTheLast) {
  for (const uint32_t w : {4u, 5u, 6u}) slot.offer(slot.add(w), w);
  EXPECT_EQ(slot.remove(0), 6u);
  EXPECT_EQ(slot.warp(), 5u);
  EXPECT_EQ(slot.next(), 5u);
  slot.offer(0, 3);
  EXPECT_EQ(slot.warp(), 6u);
}

TEST(Turn, IsTheEarliestSlotsAndTellsHowLongItIsAlone) {
  IssueSlot a, b, c;
  a.offer(a.add(0), 30);
  b.offer(b.add(0), 10);
  c.offer(c.add(0), 25);
  const std::array<IssueSlot*, 3> all{&a, &b, &c};
  const Turn t = next_turn(all);
  EXPECT_EQ(t.slot, 1u);
  EXPECT_EQ(t.at, 10u);
  EXPECT_EQ(t.second, 25u);
}

TEST(Turn, AlternatesAtUnitsThatAreShared) {
  IssueSlot a, b;
  a.add(0);
  b.add(0);
  const std::array<IssueSlot*, 2> all{&a, &b};
  std::vector<size_t> order;
  for (Time cycle = 10; cycle < 14; ++cycle) {
    a.offer(0, cycle);
    b.offer(0, cycle);
    const size_t first = next_turn(all).slot;
    order.push_back(first);
    all[first]->issue(true);
  }
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 0, 1}));
}

}  // namespace
}  // namespace drywell::sim
