// Stores of parts of sectors that join one that waits (all-* of tests/corpus/timing/mechanisms/stores.toml).
#include "sim/timing/waiting_stores.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

ByteRange part(uint64_t address, uint32_t bytes = 32) { return {address, bytes, bytes / 32}; }

size_t sent(WaitingStores& s, std::vector<ByteRange> runs, uint32_t among = 64) {
  s.join(runs, 0, among);
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
  s.join(runs, 0, 64);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].address, 4096u - 32);
  EXPECT_EQ(runs[1].address, 4096u + 128);
  EXPECT_EQ(runs[1].turns, 1u);
}

TEST(WaitingStores, OnlyTheYoungestLinesWait) {
  WaitingStores s;
  for (uint64_t line = 0; line < 16; ++line) EXPECT_EQ(sent(s, {part(128 * line)}, 16), 1u);
  EXPECT_EQ(sent(s, {part(0)}, 16), 0u);
  EXPECT_EQ(sent(s, {part(128 * 16)}, 16), 1u);
  EXPECT_EQ(sent(s, {part(0)}, 16), 1u);
  EXPECT_EQ(sent(s, {part(128)}, 64), 0u) << "of few sectors more wait";
}

}  // namespace
}  // namespace drywell::sim
