// The closed forms of the tensor core against the published tables (docs/facts/timing.md §4.1 and §4.2:
// SemiAnalysis' medians on a B200).
#include "sim/timing/umma_cost.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

struct Row {
  const char* name;
  UmmaShape shape;
  std::array<double, 6> interval, latency;  // N = 64, 80, 96, 112, 128, 256
};
constexpr uint32_t kN[] = {64, 80, 96, 112, 128, 256};

UmmaShape shape(uint32_t m, bool pair, bool a_in_tmem) {
  UmmaShape s;
  s.m = m;
  s.pair = pair;
  s.a_in_tmem = a_in_tmem;
  return s;
}

const Row kRows[] = {
    {"1 SM, M=128, TS", shape(128, false, true), {32, 40, 48, 56, 64, 128}, {136, 144, 152, 160, 168, 232}},
    {"1 SM, M=128, SS", shape(128, false, false), {48, 52, 56, 60, 64, 128}, {168, 176, 184, 192, 200, 264}},
    {"1 SM, M=64, TS", shape(64, false, true), {32, 40, 48, 56, 64, 128}, {136, 144, 152, 160, 168, 232}},
    {"1 SM, M=64, SS", shape(64, false, false), {32, 40, 48, 56, 64, 128}, {152, 160, 168, 176, 184, 248}},
    {"2 SM, M=256, TS", shape(256, true, true), {32, 40, 48, 56, 64, 128}, {170, 178, 186, 194, 202, 266}},
    {"2 SM, M=256, SS",
     shape(256, true, false),
     {43.0, 45.3, 49.4, 56, 64, 128},
     {202, 210, 218, 226, 234, 298}},
    {"2 SM, M=128, TS", shape(128, true, true), {18, 20, 24, 28, 32, 64}, {162, 166, 170, 174, 178, 210}},
    {"2 SM, M=128, SS", shape(128, true, false), {25, 27, 29, 30, 32, 64}, {173, 179, 185, 191, 197, 229}},
};

TEST(UmmaCost, GivesThePublishedIntervalsAndLatencies) {
  const ArchConfig arch = load_arch("sm_100a");
  for (const Row& row : kRows) {
    for (size_t i = 0; i < std::size(kN); ++i) {
      UmmaShape s = row.shape;
      s.n = kN[i];
      EXPECT_NEAR(umma_cost(arch, s).interval, row.interval[i], 0.05 * row.interval[i])
          << row.name << " N=" << s.n;
      EXPECT_NEAR(umma_latency(arch, s), row.latency[i], 0.01 * row.latency[i]) << row.name << " N=" << s.n;
    }
  }
}

// Hadamard-sized tiles: the fetch of A and B alone (docs/facts/timing.md §4.1, "N<64 predicted by the fetch
// model").
TEST(UmmaCost, IsFetchBoundBelowN64) {
  const ArchConfig arch = load_arch("sm_100a");
  for (const auto& [n, cycles] : {std::pair{8u, 34.0}, {16u, 36.0}, {32u, 40.0}}) {
    UmmaShape s = shape(128, false, false);
    s.n = n;
    EXPECT_EQ(umma_cost(arch, s).interval, cycles);
  }
}

TEST(UmmaCost, DropsTheFetchOfAKeptInTheCollector) {
  const ArchConfig arch = load_arch("sm_100a");
  UmmaShape s = shape(128, false, false);
  s.n = 64;
  s.a_in_collector = true;
  EXPECT_EQ(umma_cost(arch, s).fetch, 16);
  EXPECT_EQ(umma_cost(arch, s).interval, 32);
}

// docs/facts/timing.md §5.
TEST(TmemPort, TakesThePublishedServiceTimes) {
  const ArchConfig arch = load_arch("sm_100a");
  struct Case {
    isa::Mod shape;
    uint32_t num;
    uint32_t column;
    bool pack;
    double cycles;
  };
  const Case cases[] = {
      {isa::Mod::_32x32b, 16, 0, false, 8},
      {isa::Mod::_32x32b, 64, 0, false, 32},
      {isa::Mod::_32x32b, 128, 0, false, 64},
      {isa::Mod::_32x32b, 16, 1, false, 9},
      {isa::Mod::_32x32b, 1, 1, false, 1},
      {isa::Mod::_16x64b, 32, 0, false, 32},
      {isa::Mod::_16x128b, 16, 0, false, 32},
      {isa::Mod::_16x256b, 4, 0, false, 32},
      {isa::Mod::_32x32b, 16, 0, true, 16},
  };
  for (const Case& c : cases) {
    TmemLdSt t;
    t.shape = c.shape;
    t.num = c.num;
    t.taddr = c.column;
    t.pack = c.pack;
    EXPECT_EQ(tmem_port_service(arch, t), c.cycles);
  }
}

}  // namespace
}  // namespace drywell::sim
