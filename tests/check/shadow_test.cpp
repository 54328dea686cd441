// Shadow memory against an array of cells: units, their parts and runs of them must not show.
#include "sim/check/shadow.h"

#include <gtest/gtest.h>

#include <random>

namespace drywell::sim::check {
namespace {

/// `what` of the states before; the same ones keep theirs now and then, as reads by one warp do.
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
    shadow.each([&](size_t first, size_t last, StateId s) { std::fill(seen.begin() + static_cast<ptrdiff_t>(first), seen.begin() + static_cast<ptrdiff_t>(last), s); });
    ASSERT_EQ(seen, cells) << "round " << round;
  }
}

TEST(Shadow, UnitsDoNotShow) {
  compare_with_cells<4>();
  compare_with_cells<16>();
  compare_with_cells<128>();
}

TEST(Shadow, PagesOfGlobalMemoryDoNotShow) {
  GlobalShadow shadow;
  const uint64_t base = 40 * GlobalShadow::kPage - 100;
  std::vector<StateId> cells(2 * GlobalShadow::kPage);
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const size_t begin = random() % cells.size(), end = begin + random() % (cells.size() - begin);
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
}

}  // namespace
}  // namespace drywell::sim::check
