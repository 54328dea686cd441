// Windows are shared while the threads gain by it (sim/timing/sharing.h). The times here are made up.
#include "sim/timing/sharing.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

/// Runs `count` windows, whose shared ones take `wall` seconds for `busy` seconds of work. Returns the number of shared ones.
uint32_t windows(Sharing& s, uint32_t count, double wall, double busy) {
  uint32_t shared = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!s.next()) continue;
    ++shared;
    s.took(wall, busy);
  }
  return shared;
}

TEST(Sharing, GoesOnWhileTwoThreadsWorkAtOnce) {
  Sharing s;
  EXPECT_EQ(windows(s, 10'000, 60e-6, 100e-6), 10'000u);
  EXPECT_EQ(windows(s, 100, 6e-3, 10e-3), 100u);
}

// The other thread's core is taken: it wakes milliseconds later, when the first has done all the work.
TEST(Sharing, EndsWhereThreadsWaitForLongerThanTheyWork) {
  Sharing s;
  EXPECT_EQ(windows(s, 10, 3e-3, 60e-6), 1u) << "a window that long is judged at once";
  EXPECT_LT(windows(s, 10'000, 3e-3, 60e-6), 20u) << "a trial now and then";
}

TEST(Sharing, ShortWindowsAreNotWorthMeetings) {
  Sharing s;
  EXPECT_LT(windows(s, 100'000, 12e-6, 5e-6), 400u);
}

TEST(Sharing, BeginsAgainWhenTheCoresAreFree) {
  Sharing s;
  windows(s, 20'000, 3e-3, 60e-6);
  windows(s, 5'000, 60e-6, 110e-6);
  EXPECT_EQ(windows(s, 1'000, 60e-6, 110e-6), 1'000u);
}

}  // namespace
}  // namespace drywell::sim
