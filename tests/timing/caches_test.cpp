// What the caches hold: the L2 from launch to launch, an L1 whose sectors are on their way, and the L2's
// units for atomic operations.
#include <gtest/gtest.h>

#include "drywell/sim/device.h"
#include "drywell/sim/driver_words.h"
#include "drywell/sim/report.h"
#include "sim/timing/l1_cache.h"
#include "sim/timing/l2_contents.h"
#include "sim/timing/memory_port.h"
#include "sim/timing/memory_system.h"
#include "support/ptx_run.h"
#include "tests/timing/read_all.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kBytes = 1 << 20;

class CarryTest : public testing::Test {
 protected:
  CarryTest()
      : memory_(device_.allocate(kBytes, "memory")), kernel_(device_.load(test::parse_or_throw(kReadAll))) {}
  RunResult launch(Caches caches) {
    RunOptions o;
    o.driver = DriverKind::timed;
    o.caches = caches;
    RunResult r =
        device_.launch(kernel_, "k", {.grid = {kBytes / 4096}, .block = {256}}, Args().add(memory_), o);
    EXPECT_TRUE(r.ok());
    return r;
  }
  Device device_{{.arch = "sm_90a"}};
  GmemAddr memory_;
  LoadedModule kernel_;
};

TEST_F(CarryTest, ASecondLaunchFindsWhatTheFirstRead) {
  const RunResult first = launch(Caches::carry), second = launch(Caches::carry), cold = launch(Caches::cold);
  EXPECT_EQ(first.timing->hbm_bytes_read, kBytes);
  EXPECT_EQ(second.timing->hbm_bytes_read, 0u);
  EXPECT_LT(second.cycles, first.cycles);
  EXPECT_EQ(cold.timing->hbm_bytes_read, kBytes);
  EXPECT_EQ(cold.cycles, first.cycles);
  EXPECT_EQ(launch(Caches::carry).timing->hbm_bytes_read, 0u) << "a cold launch fills the L2, too";
}

TEST_F(CarryTest, ACopyAndAWarmStartFillIt) {
  EXPECT_EQ(launch(Caches::warm).timing->hbm_bytes_read, 0u);
  Device other({.arch = "sm_90a"});
  const std::vector<uint8_t> bytes(kBytes / 2);
  device_.write(memory_, bytes.data(), bytes.size());
  launch(Caches::cold);  // whatever came before
  EXPECT_EQ(launch(Caches::carry).timing->hbm_bytes_read, 0u);
}

TEST_F(CarryTest, HalfCopiedIsHalfThere) {
  const std::vector<uint8_t> bytes(kBytes / 2);
  device_.write(memory_, bytes.data(), bytes.size());
  EXPECT_EQ(launch(Caches::carry).timing->hbm_bytes_read, kBytes / 2);
}

TEST(Caches, HaveWords) {
  EXPECT_EQ(parse_caches("cold"), Caches::cold);
  EXPECT_EQ(parse_caches("warm"), Caches::warm);
  EXPECT_EQ(parse_caches("carry"), Caches::carry);
  EXPECT_THROW(parse_caches("hot"), InputError);
}

TEST(L2Contents, KeepsTheLastBytesOfHostWrites) {
  L2Contents l2(1024);
  l2.host_wrote(0x10000, 4096);
  ASSERT_EQ(l2.host_writes().size(), 1u);
  EXPECT_EQ(l2.host_writes()[0].address, 0x10000u + 3072);
  EXPECT_EQ(l2.host_writes()[0].bytes, 1024u);
  l2.host_wrote(0x20000, 1024);
  ASSERT_EQ(l2.host_writes().size(), 1u);
  EXPECT_EQ(l2.host_writes()[0].address, 0x20000u);
  l2.leave({});
  EXPECT_TRUE(l2.host_writes().empty());
}

TEST(L1Cache, ALoadOfASectorOnItsWayAsksForNothing) {
  L1Cache l1;
  l1.resize(16384);
  std::vector<ByteRange> missing;
  L1Cache::Found first, second, third;
  l1.look_up(0x1000, 64, missing, first);
  EXPECT_EQ(first.absent, 2u);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].bytes, 64u);
  l1.expect(0x1000, 64, 7);
  missing.clear();
  l1.look_up(0x1020, 64, missing, second);  // one on its way, one absent
  EXPECT_EQ(second.absent, 1u);
  EXPECT_EQ(second.awaited, 7u);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].address, 0x1040u);
  l1.fill(0x1000, 64);
  missing.clear();
  l1.look_up(0x1000, 64, missing, third);
  EXPECT_EQ(third.absent, 0u);
  EXPECT_FALSE(third.awaited.has_value());
}

/// Cycles that `lanes` take as one operation at the L2's units.
double at_units(MemoryKind kind, const LaneAddresses& a, uint32_t token = MemoryPort::kNoToken) {
  const ArchConfig arch = load_arch("sm_90a");
  Gmem gmem(1 << 24);
  const uint64_t base = gmem.allocate(1 << 20, "memory").value();
  LaneAddresses placed = a;
  for (uint64_t& x : placed.at) x += base;
  std::vector<ByteRange> runs;
  if (kind == MemoryKind::store)
    gmem_stored_sectors(placed, runs);
  else
    gmem_atomic_sectors(placed, runs);
  MemorySystem memory(arch, gmem, 132);
  memory.start(Caches::warm, gmem, nullptr);
  MemoryRequest r{.kind = kind, .token = token, .count = static_cast<uint32_t>(runs.size())};
  memory.serve(r, runs.data());
  return memory.drained();
}

LaneAddresses lanes(uint64_t step, uint32_t bytes = 4) {
  LaneAddresses a{.at = {}, .mask = kFullMask, .bytes = bytes};
  for (uint32_t i = 0; i < kWarpSize; ++i) a.at[i] = i * step;
  return a;
}

// traces/hw/h200-2026-11-22-scalar-launch-atomics.csv: 23.4 ns for 32 lanes at one word, 56.2 ns if they add
// floats, 2.4 ns for a row of words, at 1.98 GHz.
TEST(AtomicUnits, LanesAtOneWordWaitForEachOther) {
  EXPECT_NEAR(at_units(MemoryKind::atomic, lanes(0)), 23.4 * 1.98, 3);
  EXPECT_NEAR(at_units(MemoryKind::float_atomic, lanes(0)), 56.2 * 1.98, 3);
  EXPECT_NEAR(at_units(MemoryKind::atomic, lanes(4)), 2.4 * 1.98, 3);
  EXPECT_NEAR(at_units(MemoryKind::float_atomic, lanes(4)), 2.5 * 1.98, 3);
}

// hashed-1M-words of the same record: 0.30 ns for red.add, 0.40 for atom.add. One sector has one unit, 32 pieces have as many.
TEST(AtomicUnits, OldValuesThatGoBackTakeHalfACycleMore) {
  const double reduces = at_units(MemoryKind::atomic, lanes(512)), answers = at_units(MemoryKind::atomic, lanes(512), 7);
  EXPECT_NEAR(answers - reduces, 0.5, 0.01);
}

TEST(AtomicUnits, AStoreOfWholeSectorsNeedsNone) {
  EXPECT_LT(at_units(MemoryKind::store, lanes(16, 16)), at_units(MemoryKind::store, lanes(4096, 4)));
  std::vector<ByteRange> whole, parts;
  gmem_stored_sectors(lanes(16, 16), whole);
  for (const ByteRange& r : whole) EXPECT_EQ(r.turns, 0u);
  gmem_stored_sectors(lanes(64, 4), parts);
  uint32_t turns = 0;
  for (const ByteRange& r : parts) turns += r.turns;
  EXPECT_EQ(turns, 32u);
}

/// Cycles until the last of `requests` has been answered: reads of `bytes` from lines that are `pitch` apart, 33 SMs' worth of them at once.
/// Every second one is from `gpc`, and for the same line as the one before.
double reads_of_l2(uint32_t bytes, uint32_t pitch, uint32_t gpc, bool in_pairs) {
  constexpr uint32_t kRequests = 8192;
  const ArchConfig arch = load_arch("sm_90a");
  Gmem gmem(1 << 24);
  const uint64_t base = gmem.allocate(kRequests * 128, "memory").value();
  MemorySystem memory(arch, gmem, 132);
  memory.start(Caches::warm, gmem, nullptr);
  double last = 0;
  for (uint32_t i = 0; i < kRequests; ++i) {
    const ByteRange part{base + uint64_t{in_pairs ? i / 2 : i} * pitch, bytes};
    MemoryRequest r{.count = 1};
    memory.serve(r, &part, i % 2 == 0 ? 0 : gpc);
    last = std::max(last, static_cast<double>(r.done));
  }
  return last - static_cast<double>(arch.l2.latency);
}

// l2.read.together-2 and apart-2 of traces/hw/h200-2026-11-22-microbench.txt: 52 to 58 bytes a cycle for each SM instead of 35 where neighbours
// read the same lines, 34 where SMs of other GPCs do.
TEST(L2, RequestsOfOneGpcForALineThatIsOnItsWayAreJoined) {
  const double apart = reads_of_l2(128, 128, 1, true);
  EXPECT_NEAR(apart / reads_of_l2(128, 128, 0, true), 54.0 / 34.8, 0.15);
  EXPECT_NEAR(apart / reads_of_l2(128, 128, 0, false), 1, 0.02) << "but for the waits of a busy L2";
}

// l2.read.pitch-32, -64 and -128: 33, 33 and 19 bytes a cycle for each SM.
TEST(L2, ASectorOfALineTakesTheTimeOfAlmostTwo) {
  EXPECT_NEAR(reads_of_l2(32, 128, 0, false) / reads_of_l2(64, 128, 0, false), 33.5 / (2 * 19.3), 0.1);
}

// fill-256k of tests/corpus/timing ended 0.2 us before the H200's.
TEST(L2, ALaunchEndsWhenItsStoresAreAnswered) {
  const ArchConfig arch = load_arch("sm_90a");
  Gmem gmem(1 << 20);
  const ByteRange line{gmem.allocate(1 << 19, "memory").value(), 128};
  MemorySystem memory(arch, gmem, 132);
  MemoryRequest store{.time = 1000, .kind = MemoryKind::store, .count = 1};
  memory.serve(store, &line);
  EXPECT_GE(memory.drained(), 1000 + static_cast<double>(arch.l2.latency));
}

TEST(SharedAtomics, CountLanesAtABankAndAtAWord) {
  EXPECT_EQ(smem_contention(lanes(0)).word, 32u);
  EXPECT_EQ(smem_contention(lanes(128)).bank, 32u);
  EXPECT_EQ(smem_contention(lanes(128)).word, 1u);
  EXPECT_EQ(smem_contention(lanes(4)).bank, 1u);
}

}  // namespace
}  // namespace drywell::sim
