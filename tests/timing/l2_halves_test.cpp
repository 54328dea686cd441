// The L2 in two halves. Expectations are the histograms of traces/hw/h200-2026-11-26-l2-halves.csv: one thread of SM 0 loads 4,096 lines one
// after another, after all SMs or some of them have read the table.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sim/timing/l2_distance.h"
#include "sim/timing/l2_places.h"
#include "sim/timing/memory_system.h"
#include "sim/timing/residency.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kSms = 132, kHops = 4096;
constexpr uint64_t kMiB = 1 << 20;

/// A table that SMs of an H200 read and write, one request long after the other.
class Table {
 public:
  explicit Table(uint64_t bytes, const char* arch = "sm_90a")
      : arch_(load_arch(arch)), gmem_(bytes + kMiB), base_(gmem_.allocate(bytes, "table").value()), lines_(bytes / 128), memory_(arch_, gmem_, kSms) {}

  /// Cycles until a request of an SM for a word of a line is answered.
  double ask(uint64_t line, uint32_t sm, MemoryKind kind = MemoryKind::load) {
    const ByteRange word{base_ + line * 128, 32};
    MemoryRequest r{.time = now_ += 5000, .kind = kind, .count = 1};
    memory_.serve(r, &word, gpc_of_sms(arch_, kSms)[sm], sm);
    return static_cast<double>(r.done) - r.time;
  }
  /// All lines, each by all of `sms`.
  void read_by(const std::vector<uint32_t>& sms) {
    for (uint64_t line = 0; line < lines_; ++line) {
      for (const uint32_t sm : sms) ask(line, sm);
    }
  }
  void read_in_parts() {
    for (uint64_t line = 0; line < lines_; ++line) ask(line, static_cast<uint32_t>(line * 7 % kSms));
  }
  /// What SM 0 gets from the lines of a walk through the table: the shares that come from the other half and from device memory.
  std::pair<double, double> walk() {
    uint32_t far = 0, missed = 0;
    for (uint64_t hop = 0; hop < kHops; ++hop) {
      const uint64_t before = memory_.hbm_read();
      const double cycles = ask(hop * 1237 % lines_, 0);
      const bool miss = memory_.hbm_read() != before;
      missed += miss ? 1 : 0;
      far += !miss && cycles > arch_.l2.latency + 80 ? 1 : 0;
    }
    return {static_cast<double>(far) / kHops, static_cast<double>(missed) / kHops};
  }
  uint32_t sm_of_half(uint32_t half) const {
    const L2Distance distance(arch_, kSms);
    uint32_t sm = 0;
    while (distance.half_of_sm(sm) != half) ++sm;
    return sm;
  }
  const ArchConfig& arch() const { return arch_; }
  const Gmem& gmem() const { return gmem_; }
  MemorySystem& memory() { return memory_; }

 private:
  ArchConfig arch_;
  Gmem gmem_;
  uint64_t base_, lines_;
  MemorySystem memory_;
  double now_ = 0;
};

// 1,035 of 4,096 lines took 432 cycles or more: at home in the other half, and read by SMs of the other half only.
TEST(L2Halves, AQuarterOfATableThatSmsReadInPartsIsFar) {
  Table table(kMiB);
  table.read_in_parts();
  EXPECT_NEAR(table.walk().first, 0.25, 0.03);
  EXPECT_EQ(table.walk().first, 0) << "SM 0 has read all lines: its half has copies (\"parts, then SM0\")";
}

TEST(L2Halves, WhatAnSmHasReadIsNear) {
  Table table(kMiB);
  table.read_by({0});
  EXPECT_EQ(table.walk().first, 0);
}

// 1 of 4,096 lines was missed where all SMs had read 24 MiB, 36 % of 40 MiB and 48 % of 48 MiB. The model holds more: it is made for tables that
// are read once after another (the next test), which the same places cannot explain.
TEST(L2Halves, HoldATableOfHalfTheirBytesForAllSms) {
  const std::pair<uint64_t, double> tables[] = {{24, 0}, {40, 0.36}, {48, 0.48}};
  double before = 0;
  for (const auto& [size, missed] : tables) {
    Table table(size * kMiB);
    table.read_by({table.sm_of_half(0), table.sm_of_half(1)});
    const double share = table.walk().second;
    EXPECT_LE(share, missed + 0.04) << size << " MiB";
    EXPECT_GE(share, missed - 0.2) << size << " MiB";
    EXPECT_GE(share, before);
    before = share;
  }
}

// l2cap.toml of traces/hw/h200-2026-11-27-launch-mechanisms.csv: read4-40M takes 7.8 us again and 10.6 us after a sweep, read4-48M 12.1 and 12.4.
TEST(L2Halves, HoldATableThatIsReadOnceAfterAnotherWholeOrNotAtAll) {
  for (const auto& [size, there] : {std::pair<uint64_t, bool>{36, true}, {40, true}, {48, false}}) {
    Table table(size * kMiB);
    for (int pass = 0; pass < 3; ++pass) table.read_in_parts();
    const uint64_t before = table.memory().hbm_read();
    table.read_in_parts();
    const auto share = static_cast<double>(table.memory().hbm_read() - before) / static_cast<double>(size * kMiB / 4);
    if (there)
      EXPECT_EQ(share, 0) << size << " MiB";
    else
      EXPECT_GT(share, 0.9) << size << " MiB";
  }
}

// chase,24 MiB,touched by SM0: none took longer than 335 cycles.
TEST(L2Halves, HoldWhatOneSmHasRead) {
  Table table(24 * kMiB);
  table.read_by({0});
  EXPECT_EQ(table.walk().second, 0);
}

TEST(L2Halves, AStoreEndsTheCopyOfALine) {
  Table table(kMiB);
  const uint32_t near = table.sm_of_half(0), far = table.sm_of_half(1);
  for (uint64_t line = 0; line < 64; ++line) {
    table.ask(line, near);
    table.ask(line, far);
    const double copied = table.ask(line, far);
    table.ask(line, near, MemoryKind::store);
    const double changed = table.ask(line, far);
    EXPECT_TRUE(changed == copied || changed > copied + 150) << line;
    EXPECT_EQ(table.ask(line, far), copied) << "a copy again";
  }
}

// scan_in_place of strips.toml takes as long as scan_apart, and scan_others 85 cycles a row more: half of the way to the other half
// (traces/hw/h200-2026-11-28-tables.csv).
TEST(L2Halves, WhatAnSmHasWrittenIsNearForItsHalfOnly) {
  for (const uint32_t half : {0u, 1u}) {
    Table table(kMiB);
    for (uint64_t line = 0; line < kMiB / 128; ++line) table.ask(line, table.sm_of_half(half), MemoryKind::store);
    const bool own = table.sm_of_half(half) == 0;
    EXPECT_NEAR(table.walk().first, own ? 0 : 0.5, own ? 0 : 0.03) << half;
  }
}

// atom.global.add.latency.lines-16 of traces/hw/h200-2026-11-22-microbench.txt: 383 cycles in the mean of 16 lines.
TEST(L2Halves, AtomicsHaveTheMeanLatencyOfBothHalves) {
  Table table(kMiB);
  table.read_by({0});
  double sum = 0;
  std::set<bool> far;
  for (uint64_t line = 0; line < kHops; ++line) {
    const double cycles = table.ask(line, 0, MemoryKind::atomic);
    sum += cycles / kHops;
    far.insert(cycles > 383);
  }
  EXPECT_NEAR(sum, 383, 8);
  EXPECT_EQ(far.size(), 2u);
}

TEST(L2Halves, CopiesAreThereInTheNextLaunch) {
  Table table(kMiB);
  table.read_by({0});
  L2Contents contents(64 * kMiB);
  table.memory().leave(contents);
  MemorySystem next(table.arch(), table.gmem(), kSms);
  next.start(Caches::carry, table.gmem(), &contents);
  for (uint64_t line = 0; line < 512; ++line) {
    const ByteRange word{table.gmem().allocations().front()->base + line * 128, 32};
    MemoryRequest r{.time = static_cast<double>(line) * 5000, .count = 1};
    next.serve(r, &word, 0, 0);
    EXPECT_LT(static_cast<double>(r.done) - r.time, table.arch().l2.latency + 80) << line;
  }
  EXPECT_EQ(next.hbm_read(), 0u);
}

// No map of a B200's two dies is published.
TEST(L2Halves, OneL2IsAsFarFromEverySm) {
  Table table(kMiB, "sm_100a");
  table.read_by({0});
  std::set<double> cycles;
  for (uint64_t line = 0; line < 64; ++line) cycles.insert({table.ask(line, 0), table.ask(line, 100)});
  EXPECT_EQ(cycles.size(), 1u);
}

// Means of 132 SMs, sms,1 MiB: 282.8 to 305.1; half of the chip's GPCs are next to each half.
TEST(L2Distance, SmsDifferByTwentyCycles) {
  const L2Distance distance(load_arch("sm_90a"), kSms);
  double least = 0, most = 0, sum = 0;
  std::vector<uint32_t> sms(2);
  for (uint32_t s = 0; s < kSms; ++s) {
    least = std::min(least, distance.of_sm(s));
    most = std::max(most, distance.of_sm(s));
    sum += distance.of_sm(s);
    ++sms[distance.half_of_sm(s)];
  }
  EXPECT_NEAR(most - least, 305.1 - 282.8, 2);
  EXPECT_EQ(distance.of_sm(0), 0);
  EXPECT_EQ(least, 0) << "a launch of one CTA runs next to the L2 (lat1_1-w1-1 and -132 of traces/hw/h200-2026-11-27-launch-mechanisms.csv)";
  EXPECT_NEAR(sum / kSms, 11, 2) << "30 cycles from the first CTA's SM to the slowest";
  EXPECT_NEAR(sms[0], kSms / 2, 4);
}

// An SM's lines, chase,1 MiB: 264 to 328 cycles; those of the other half 432 to 504.
TEST(L2Distance, LinesDifferByTwiceThat) {
  const ArchConfig arch = load_arch("sm_90a");
  const L2Distance distance(arch, kSms);
  EXPECT_NEAR(distance.across(), (432 + 504) / 2.0 - (264 + 328) / 2.0, 8);
  uint32_t home = 0;
  for (uint32_t line = 0; line < kHops; ++line) {
    EXPECT_GE(distance.of_line(line, 0) + distance.of_sm(5), distance.nearest());
    EXPECT_LE(distance.of_line(line, 0), -distance.nearest());
    home += distance.home_of(line);
  }
  EXPECT_NEAR(home, kHops / 2, kHops / 20);
}

TEST(L2Places, ALineLeavesWhenNoPlaceIsFree) {
  L2Places places(4);
  for (uint32_t line = 0; line < 4; ++line) EXPECT_FALSE(places.take(line).has_value());
  std::set<uint32_t> there{0, 1, 2, 3};
  for (uint32_t line = 4; line < 100; ++line) {
    const std::optional<uint32_t> leaves = places.take(line);
    ASSERT_TRUE(leaves.has_value());
    EXPECT_EQ(there.erase(*leaves), 1u);
    there.insert(line);
    const std::vector<uint32_t> all = places.lines();
    EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()), there);
    EXPECT_EQ(all.front(), line - 3) << "the oldest first";
  }
}

// read4-48M of traces/hw/h200-2026-11-27-launch-mechanisms.csv takes as long again as after a sweep.
TEST(L2Places, ATableThatIsALittleLargerIsMissedWhole) {
  constexpr uint32_t kPlaces = 10000, kLines = 11000, kRounds = 5;
  L2Places places(kPlaces);
  std::vector<bool> there(kLines);
  uint32_t missed = 0;
  for (uint32_t i = 0; i < kRounds * kLines; ++i) {
    const uint32_t line = i % kLines;
    if (there[line]) continue;
    ++missed;
    if (const auto leaves = places.take(line)) there[*leaves] = false;
    there[line] = true;
  }
  EXPECT_EQ(missed, kRounds * kLines);
}

}  // namespace
}  // namespace drywell::sim
