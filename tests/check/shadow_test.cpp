// Shadow memory against an array of cells: units, their parts and runs of them must not show.
#include "sim/check/global_shadow.h"

#include <gtest/gtest.h>

#include <random>

namespace drywell::sim::check {
namespace {

/// The state after an access `what`; some states do not change, as for repeated reads by one warp.
StateId next_state(StateId before, StateId what) { return (before + what) % 4 == 0 ? before : before * 7 % 5 + what; }

template <uint32_t Unit>
void compare_with_cells() {
  constexpr size_t kCells = 12 * Unit;
  Shadow<Unit> shadow(kCells);
  std::vector<StateId> cells(kCells);
  std::mt19937 random(Unit);
  for (int round = 0; round < 4000; ++round) {
    size_t begin = random() % kCells, end = begin + random() % (kCells - begin + 3);  // may lead out of it
    if (round % 3 == 0) begin -= begin % Unit, end -= end % Unit;
    const StateId what = random() % 6;
    size_t told = begin;  // runs come in order, and start where the state changes
    shadow.update(begin, end, [&](StateId s, size_t cell) {
      EXPECT_GE(cell, told);
      EXPECT_EQ(s, cells[cell]);
      told = cell + 1;
      return next_state(s, what);
    });
    for (size_t i = begin; i < std::min(end, kCells); ++i) cells[i] = next_state(cells[i], what);
    if (round % 50 != 0) continue;
    std::vector<StateId> seen(kCells);
    shadow.each(0, kCells, [&](size_t first, size_t last, StateId s) { std::fill(seen.begin() + static_cast<ptrdiff_t>(first), seen.begin() + static_cast<ptrdiff_t>(last), s); });
    ASSERT_EQ(seen, cells) << "round " << round;
  }
}

TEST(Shadow, UnitsDoNotShow) {
  compare_with_cells<4>();
  compare_with_cells<16>();
  compare_with_cells<128>();
}

TEST(Shadow, TakesOverAnother) {
  constexpr size_t kCells = 64;
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Shadow<16> here(kCells), there(kCells);
    std::vector<StateId> cells(kCells), others(kCells);
    for (int i = 0; i < 6; ++i) {
      const size_t begin = random() % kCells, end = begin + random() % (kCells - begin);
      const StateId s = random() % 3;
      (i % 2 == 0 ? here : there).update(begin, end, [&](StateId, size_t) { return s; });
      std::fill_n((i % 2 == 0 ? cells : others).begin() + static_cast<ptrdiff_t>(begin), end - begin, s);
    }
    here.join(0, there, 0, kCells, [&](StateId a, StateId b, size_t cell) {
      EXPECT_EQ(a, cells[cell]);
      EXPECT_EQ(b, others[cell]);
      return 10 * a + b;
    });
    std::vector<StateId> seen(kCells);
    here.each_in(0, kCells, [&](size_t i, StateId s) { seen[i] = s; });
    for (size_t i = 0; i < kCells; ++i) EXPECT_EQ(seen[i], others[i] == 0 ? cells[i] : 10 * cells[i] + others[i]);
  }
}

TEST(Shadow, ReplacesWholeUnitsOfOneState) {
  Shadow<16> s(64);
  EXPECT_TRUE(s.replace(0, 64, 0, 3));
  EXPECT_FALSE(s.replace(0, 24, 3, 4)) << "half a unit";
  EXPECT_FALSE(s.replace(0, 80, 3, 4)) << "beyond the end";
  s.update(20, 24, [](StateId, size_t) { return StateId{5}; });
  EXPECT_FALSE(s.replace(0, 32, 3, 4)) << "a unit in parts";
  EXPECT_TRUE(s.replace(32, 64, 3, 4));
  std::vector<StateId> seen(64);
  s.each_in(0, 64, [&](size_t i, StateId state) { seen[i] = state; });
  EXPECT_EQ(seen[31], 3u);
  EXPECT_EQ(seen[20], 5u);
  EXPECT_EQ(seen[32], 4u);
}

TEST(Shadow, PagesOfGlobalMemoryDoNotShow) {
  GlobalShadow shadow;
  const uint64_t base = 40 * GlobalShadow::kPage - 100;
  std::vector<StateId> cells(90 * GlobalShadow::kPage);
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const size_t begin = random() % cells.size(), end = std::min<size_t>(cells.size(), begin + random() % 1500);
    const StateId what = random() % 6;
    shadow.update(base + begin, base + end, [&](StateId s, uint64_t at) {
      EXPECT_EQ(s, cells[at - base]);
      return next_state(s, what);
    });
    for (size_t i = begin; i < end; ++i) cells[i] = next_state(cells[i], what);
  }
  std::vector<StateId> all(cells.size()), in(cells.size());
  shadow.each([&](uint64_t first, uint64_t last, StateId s) { for (uint64_t i = first; i < last; ++i) all[i - base] = s; });
  shadow.each_in(base, base + cells.size(), [&](uint64_t i, StateId s) { in[i - base] = s; });
  EXPECT_EQ(all, cells);
  EXPECT_EQ(in, cells);
  GlobalShadow copy;
  copy.join(shadow, [](StateId here, StateId there, uint64_t) { return here + there; });
  std::vector<StateId> joined(cells.size());
  copy.each_in(base, base + cells.size(), [&](uint64_t i, StateId s) { joined[i - base] = s; });
  EXPECT_EQ(joined, cells);
}

}  // namespace
}  // namespace drywell::sim::check
