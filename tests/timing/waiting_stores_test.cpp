// Stores of parts of sectors that join one that waits (all-* of stores.toml, dense_store_* of f64.toml and late_* of late.toml in
// tests/corpus/timing/mechanisms).
#include "sim/timing/waiting_stores.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

ByteRange part(uint64_t address, uint32_t bytes = 32) { return {address, bytes, bytes / 32}; }

size_t sent(WaitingStores& s, std::vector<ByteRange> runs, uint32_t warp = 0) {
  s.join(runs, 0, warp);
  return runs.size();
}

TEST(WaitingStores, TheNextWordsOfASectorJoinTheFirst) {
  WaitingStores s;
  EXPECT_EQ(sent(s, {part(4096)}), 1u);
  EXPECT_EQ(sent(s, {part(4096)}), 0u);
  EXPECT_EQ(sent(s, {part(4128)}), 1u) << "another sector of the line";
}

TEST(WaitingStores, WholeSectorsAreSent) {
  WaitingStores s;
  const ByteRange whole{4096, 128, 0};
  EXPECT_EQ(sent(s, {whole}), 1u);
  EXPECT_EQ(sent(s, {whole}), 1u);
}

TEST(WaitingStores, TheSectorsThatDoNotWaitAreSent) {
  WaitingStores s;
  EXPECT_EQ(sent(s, {part(4096, 128)}), 1u);
  std::vector<ByteRange> runs{part(4096 - 32, 192)};
  s.join(runs, 0, 0);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].address, 4096u - 32);
  EXPECT_EQ(runs[1].address, 4096u + 128);
  EXPECT_EQ(runs[1].turns, 1u);
}

// records-* of partner.toml in tests/corpus/timing/mechanisms: a warp's stores of the words of a structure.
TEST(WaitingStores, StoresToFewLinesJoinThoseOfTheirWarp) {
  WaitingStores s;
  const std::vector<ByteRange> four{part(0), part(128), part(256), part(384)};
  EXPECT_EQ(sent(s, four, 0), 4u);
  for (uint32_t warp = 1; warp < 64; ++warp) EXPECT_EQ(sent(s, {part(4096 * uint64_t{warp})}, warp), 1u);
  EXPECT_EQ(sent(s, four, 0), 0u) << "whatever other warps stored meanwhile";
  EXPECT_EQ(sent(s, four, 1), 4u) << "another warp's sectors";
  EXPECT_EQ(sent(s, {part(1024), part(2048)}, 0), 2u);
  EXPECT_EQ(sent(s, four, 0), 4u) << "four lines of a warp wait";
}

/// The share of later words that join, where eight words of `lines` lines are stored in turn.
double share_that_joins(uint64_t lines) {
  constexpr uint64_t kWords = 8, kOfAStore = 7;
  WaitingStores s;
  uint64_t sectors = 0;
  for (uint64_t word = 0; word < kWords; ++word) {
    for (uint64_t line = 0; line < lines; line += kOfAStore) {
      std::vector<ByteRange> runs;
      for (uint64_t k = 0; k < kOfAStore; ++k) runs.push_back(part(128 * (line + k)));
      sectors += sent(s, runs);
    }
  }
  return 1 - static_cast<double>(sectors - lines) / static_cast<double>((kWords - 1) * lines);
}

// An H200: all of 28 lines, two thirds of 36, a fifth of 64, a twelfth of 160.
TEST(WaitingStores, OfRowsWithMoreLinesThanPlacesAPartJoins) {
  EXPECT_EQ(share_that_joins(28), 1);
  EXPECT_NEAR(share_that_joins(35), 0.68, 0.35);
  EXPECT_LT(share_that_joins(63), 0.4);
  EXPECT_LT(share_that_joins(161), 0.15);
}

TEST(WaitingStores, AStoreToMoreLinesThanPlacesLeavesAtOnce) {
  std::vector<ByteRange> lines;
  for (uint64_t line = 0; line < 32; ++line) lines.push_back(part(128 * line));
  WaitingStores s;
  EXPECT_EQ(sent(s, lines, false), 32u);
  EXPECT_EQ(sent(s, lines, false), 32u);
}

}  // namespace
}  // namespace drywell::sim
