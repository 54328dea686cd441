// The power model against what NVML said of an H200 under load (traces/hw/h200-2026-11-23-power.csv), and the
// clock of a launch.
#include "sim/timing/power.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "drywell/sim/device.h"
#include "drywell/sim/driver_words.h"
#include "support/paths.h"
#include "support/ptx_run.h"
#include "tests/timing/read_all.h"

namespace drywell::sim {
namespace {

struct Load {
  double us = 0, amount = 0, watts = 0, mhz = 0;
  bool capped = false;
};

std::map<std::string, Load> record() {
  std::ifstream in(test::source_path("traces/hw/h200-2026-11-23-power.csv"));
  std::map<std::string, Load> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#') || line.starts_with("operation")) continue;
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream words(line);
    std::string name;
    Load l;
    words >> name >> l.us >> l.amount >> l.watts >> l.mhz >> l.capped;
    out[name] = l;
  }
  return out;
}

const ArchConfig& h200() {
  static const ArchConfig arch = load_arch("sm_90a");
  return arch;
}

// FLOP of all tensor cores in a cycle: H100 white paper, 1,024 dense FMA of 16-bit operands per SM.
double tensor_use(const Load& l, double flop_per_cycle) {
  return l.amount / l.us / (132 * flop_per_cycle * l.mhz);
}

// cuBLAS's tiles are not in the record: their operands' way through the L2 is taken as two fifths of its most
// at full rate.
UnitUse matmul(double tensor) {
  return {.tensor = tensor, .issue = 0.1, .l2 = 0.48 * tensor, .hbm_bytes_per_cycle = 100};
}

TEST(PowerModel, SustainsTheClocksOfMatmulsOnAnH200) {
  struct Case {
    const char* name;
    double flop_per_cycle, within;
  };
  // The model has no width of operands: f16 and f8 draw more, TF32 less.
  for (const Case& c : {Case{"mm_bfloat16_8192_n", 4096, 0.04}, Case{"mm_bfloat16_4096_n", 4096, 0.04},
                        Case{"mm_bfloat16_2048_n", 4096, 0.11}, Case{"mm_float16_8192_n", 4096, 0.05},
                        Case{"mm_float32_8192_n", 2048, 0.06}, Case{"f8_8192_n", 8192, 0.09}}) {
    const Load l = record().at(c.name);
    ASSERT_TRUE(l.capped) << c.name;
    const double ghz = sustained_clock(h200(), matmul(tensor_use(l, c.flop_per_cycle)), h200().chip.clock);
    EXPECT_NEAR(ghz / (l.mhz * 1e-3), 1, c.within) << c.name;
  }
  const Load small = record().at("mm_bfloat16_1024_n");
  EXPECT_FALSE(small.capped);
  EXPECT_EQ(sustained_clock(h200(), matmul(tensor_use(small, 4096)), h200().chip.clock), h200().chip.clock);
}

TEST(PowerModel, HasTheWattsOfCopiesAndArithmetic) {
  const auto r = record();
  const auto bytes_per_cycle = [](const Load& l) { return l.amount / l.us / l.mhz; };
  const Load copy = r.at("copy_2147483648_n"), softmax = r.at("softmax"), fma = r.at("fma");
  const double l2_most = 3924;  // bytes a cycle, of both directions: [l2] of sm_90a
  const auto streaming = [&](const Load& l, double issue) {
    return UnitUse{.tensor = 0,
                   .issue = issue,
                   .l2 = bytes_per_cycle(l) / l2_most,
                   .hbm_bytes_per_cycle = bytes_per_cycle(l)};
  };
  EXPECT_NEAR(watts_at(h200(), streaming(copy, 0.05), 1.98), copy.watts, 0.05 * copy.watts);
  EXPECT_NEAR(watts_at(h200(), streaming(softmax, 0.3), 1.98), softmax.watts, 0.15 * softmax.watts)
      << "not among the fitted";
  const double issued = fma.amount / 2 / 32 / fma.us / (132 * 4 * fma.mhz);  // warp instructions a slot
  EXPECT_NEAR(watts_at(h200(), {.tensor = 0, .issue = issued, .l2 = 0, .hbm_bytes_per_cycle = 0}, 1.98),
              fma.watts, 0.05 * fma.watts);
}

TEST(PowerModel, LowersTheClockUntilTheLimitHolds) {
  const UnitUse all{.tensor = 1, .issue = 1, .l2 = 1, .hbm_bytes_per_cycle = 2000};
  const double ghz = sustained_clock(h200(), all, 1.98);
  EXPECT_NEAR(watts_at(h200(), all, ghz), h200().power.limit, 0.5);
  ArchConfig without = h200();
  without.power.limit = 0;
  EXPECT_EQ(watts_at(without, all, 1.98), 0);
}

// A launch bound by device memory, which keeps its bytes a second whatever the SMs' clock.
std::shared_ptr<const TimingReport> timed(std::string_view clock) {
  constexpr uint64_t kBytes = 8 << 20;
  Device device({.arch = "sm_90a"});
  const GmemAddr memory = device.allocate(kBytes, "memory");
  RunOptions o;
  o.driver = DriverKind::timed;
  o.clock = parse_clock(clock);
  const RunResult r = device.launch(device.load(test::parse_or_throw(kReadAll)), "k",
                                    {.grid = {kBytes / 4096}, .block = {256}}, Args().add(memory), o);
  EXPECT_TRUE(r.ok());
  return r.timing;
}

TEST(Clock, OfTheUsersLeavesTheMemoryItsSpeed) {
  const auto nominal = timed("nominal"), half = timed("0.99");
  EXPECT_EQ(nominal->clock_ghz, 1.98);
  EXPECT_EQ(half->clock_ghz, 0.99);
  EXPECT_LT(static_cast<double>(half->cycles), 0.9 * static_cast<double>(nominal->cycles));
  EXPECT_GT(half->seconds, nominal->seconds);
  EXPECT_EQ(timed("sustained")->seconds, nominal->seconds) << "far from the limit";
  EXPECT_GT(nominal->watts, h200().power.idle + h200().power.clock);
  EXPECT_LT(nominal->watts, h200().power.limit);
}

TEST(Clock, IsNominalSustainedOrANumber) {
  EXPECT_EQ(parse_clock("sustained").kind, ClockChoice::Kind::sustained);
  EXPECT_EQ(parse_clock("1.7GHz").ghz, 1.7);
  for (const char* wrong : {"", "fast", "0", "1e9", "1.7MHz", "-1", "nan"})
    EXPECT_THROW(parse_clock(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace drywell::sim
