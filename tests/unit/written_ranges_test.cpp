// Ranges of written bytes against a map of single bytes.
#include "sim/state/written_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace drywell::sim {
namespace {

TEST(WrittenRanges, AreThoseOfSingleBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    WrittenRanges ranges;
    std::vector<bool> bytes(200, false);
    for (int i = 0; i < 12; ++i) {
      const uint64_t begin = random() % 190, end = begin + random() % 10;
      ranges.add(begin, end);
      for (uint64_t b = begin; b < end; ++b) bytes[b] = true;
    }
    for (uint64_t begin = 0; begin < 200; ++begin) {
      bool any = false;
      for (uint64_t end = begin + 1; end <= std::min<uint64_t>(200, begin + 9); ++end) {
        any = any || bytes[end - 1];
        ASSERT_EQ(ranges.touches(begin, end), any) << round << ": " << begin << " to " << end;
      }
    }
  }
}

TEST(WrittenRanges, TooManyPartsAreEverything) {
  WrittenRanges ranges;
  EXPECT_TRUE(ranges.empty());
  for (uint64_t i = 0; i < 4096; ++i) ranges.add(2 * i, 2 * i + 1);
  EXPECT_FALSE(ranges.touches(1, 2));
  ranges.add(1 << 20, (1 << 20) + 1);
  EXPECT_TRUE(ranges.touches(1, 2));
}

}  // namespace
}  // namespace drywell::sim
