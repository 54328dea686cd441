// Shared memory: latency, bank conflicts, bandwidth (docs/facts/timing.md §6).
#include "drywell/sim/access.h"

#include <gtest/gtest.h>

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

// Loads at lane * stride, in a dependent chain: the loaded value (zero) is added to the address.
double chain_latency(const std::string& arch, uint32_t ways) {
  const auto r = run_timed_kernel({.arch = arch}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol data = k.shared("data", 32 * 128, 128);
    const Reg lane = k.def("mov.u32", SpecialReg::laneid);
    // `ways` lanes share a bank: lane l reads word (l / ways) + 32 * (l % ways).
    const Reg word =
        k.def("add.u32", k.def("div.u32", lane, ways), k.def("mul.lo.u32", k.def("rem.u32", lane, ways), 32));
    const Reg base = k.def("mov.u32", data), at = k.reg(Mod::u32), offset = k.def("shl.b32", word, 2);
    k("add.u32", at, base, offset);
    k("st.shared.u32", mem(at), at);
    for (int i = 0; i < 20; ++i) k("ld.shared.u32", at, mem(at));
  });
  auto cycles = r.log.of("ld");
  cycles.erase(cycles.begin(), cycles.begin() + 2);  // the store is still in the unit
  return spacing(cycles);
}

TEST(SharedLoad, HasThePublishedLatency) {
  EXPECT_EQ(chain_latency("sm_100a", 1), 29);
  EXPECT_EQ(chain_latency("sm_90a", 1), 23);
}

TEST(SharedLoad, PaysTwoCyclesForEachFurtherWay) {
  for (const uint32_t ways : {2u, 4u, 8u, 16u, 32u}) {
    EXPECT_NEAR(chain_latency("sm_100a", ways), 29 + 2.0 * (ways - 1), 0.05 * (29 + 2.0 * ways)) << ways;
    EXPECT_EQ(chain_latency("sm_90a", ways), 23 + 2.0 * (ways - 1)) << ways;  // H200, exact
  }
}

// 128 B/clk for the SM; a sub-partition starts a load of one wavefront every four cycles.
TEST(SharedLoad, ReachesOneWavefrontACycleFromFourWarps) {
  for (const auto& [warps, wavefronts_per_cycle] : {std::pair{1u, 0.25}, {2u, 0.5}, {4u, 1.0}, {8u, 1.0}}) {
    const auto r = run_timed_kernel(
        {.launch = {.grid = {1}, .block = {32 * warps}}}, [&](KernelBuilder& k, Symbol, const auto&) {
          const Symbol data = k.shared("data", 256 * 128, 128);
          const Reg lane = k.def("mov.u32", SpecialReg::laneid);
          const Reg at = k.def("add.u32", k.def("mov.u32", data), k.def("shl.b32", lane, 2));
          std::vector<Reg> d;
          for (int i = 0; i < 8; ++i) d.push_back(k.reg(Mod::u32));
          for (int i = 0; i < 256; ++i) k("ld.shared.u32", d[i % 8], mem(at, 128 * i));
        });
    auto cycles = r.log.of("ld", warps - 1);
    cycles.erase(cycles.begin(), cycles.begin() + 64);
    const double expected = warps / wavefronts_per_cycle;
    EXPECT_NEAR(spacing(cycles), expected, 0.05 * expected) << warps;
  }
}

LaneAddresses lanes(uint32_t bytes, const std::function<uint64_t(uint32_t)>& f, LaneMask mask = kFullMask) {
  LaneAddresses a;
  a.bytes = bytes;
  a.mask = mask;
  for (uint32_t i = 0; i < kWarpSize; ++i) a.at[i] = f(i);
  return a;
}

TEST(BankConflicts, CountTheWordsOfTheBusiestBank) {
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 4 * i; })), 1u);
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t) { return 64; })), 1u);             // broadcast
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 8 * i; })), 2u);        // stride 2
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 128 * i; })), 32u);     // a column
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 132 * i; })), 1u);      // a padded column
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 4 * (i / 2); })), 1u);  // pairs share words
  EXPECT_EQ(smem_wavefronts(lanes(8, [](uint32_t i) { return 8 * i; })), 2u);        // 256 bytes
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * i; })), 4u);      // 512 bytes
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 128 * i; })),
            32u);  // rows of 128 bytes, one chunk
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 128 * i + 16 * (i % 8); })),
            4u);  // the same, swizzled
  EXPECT_EQ(smem_wavefronts(lanes(2, [](uint32_t i) { return 2 * i; })), 1u);
  EXPECT_EQ(smem_wavefronts(lanes(
                4, [](uint32_t i) { return 128 * i; }, 0xF)),
            4u);  // four lanes
}

// bank_* and lines_* of tests/corpus/timing/mechanisms/tiles.cu: an H200 takes 16 and 8 cycles.
TEST(BankConflicts, LanesThatShareAWordCountOnce) {
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 128 * (i % 16); })), 16u);
  EXPECT_EQ(smem_wavefronts(lanes(4, [](uint32_t i) { return 128 * (i % 8); })), 8u);
  EXPECT_EQ(smem_wavefronts(lanes(2, [](uint32_t i) { return 128 * (i / 2); })), 16u);
}

// Cycles of a warp instruction as an H200 measured them: traces/hw/h200-2026-11-23-mechanisms.csv, shared-loads.
TEST(BankConflicts, WideLoadsOfEqualNeighboursTakeHalf) {
  EXPECT_EQ(smem_wavefronts(lanes(8, [](uint32_t) { return 0; })), 1u);
  EXPECT_EQ(smem_wavefronts(lanes(8, [](uint32_t i) { return 8 * (i / 2); })), 1u);
  EXPECT_EQ(smem_wavefronts(lanes(8, [](uint32_t i) { return 8 * (i % 16); })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(8, [](uint32_t i) { return 8 * (i % 4); })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t) { return 0; })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * (i / 2); })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * (i / 8); })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * (i % 2); })), 2u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * (i % 4); })), 4u);
  EXPECT_EQ(smem_wavefronts(lanes(16, [](uint32_t i) { return 16 * (i % 16); })), 4u);
}

TEST(Coalescing, CountsSectorsAndLines) {
  std::vector<ByteRange> runs;
  const auto bytes = [&] {
    uint32_t n = 0;
    for (const ByteRange& r : runs) n += r.bytes;
    runs.clear();
    return n;
  };
  EXPECT_EQ(gmem_sectors(lanes(4, [](uint32_t i) { return 4 * i; }), runs), 1u);
  EXPECT_EQ(bytes(), 128u);
  EXPECT_EQ(gmem_sectors(lanes(4, [](uint32_t i) { return 4 * i + 4; }), runs), 2u);
  EXPECT_EQ(bytes(), 160u);
  EXPECT_EQ(gmem_sectors(lanes(4, [](uint32_t i) { return 128 * i; }), runs), 32u);
  EXPECT_EQ(bytes(), 1024u);
  EXPECT_EQ(gmem_sectors(lanes(32, [](uint32_t i) { return 32 * i; }), runs), 8u);
  EXPECT_EQ(bytes(), 1024u);
  EXPECT_EQ(gmem_sectors(lanes(4, [](uint32_t i) { return 4 * (31 - i); }), runs), 1u);
  EXPECT_EQ(bytes(), 128u);
  EXPECT_EQ(gmem_sectors(lanes(4, [](uint32_t) { return 60; }), runs), 1u);
  EXPECT_EQ(bytes(), 32u);
}

}  // namespace
}  // namespace drywell::sim
