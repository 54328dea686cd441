// Device memory: places, poison, large allocations that take no host memory, and modules with very many
// names.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <vector>

#include "drywell/sim/address_windows.h"
#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint8_t byte_at(const Device& d, GmemAddr a, uint64_t offset) {
  uint8_t v = 0;
  d.read(&v, GmemAddr(a.value() + offset), 1);
  return v;
}

/// The rule in its plainest form: of the gaps that are large enough, the smallest; of those the lowest. Behind each allocation are 256
/// bytes or more that belong to nothing.
uint64_t smallest_fit(const std::map<uint64_t, uint64_t>& taken, uint64_t bytes) {
  uint64_t at = window::kGlobalBase, best = ~uint64_t{0}, room = ~uint64_t{0};
  const auto look = [&](uint64_t end) {
    if (end - at >= bytes && end - at < room) {
      room = end - at;
      best = at;
    }
  };
  for (const auto& [base, end] : taken) {
    look(base);
    at = end;
  }
  look(window::kGlobalBase + (uint64_t{1} << 60));
  return best;
}

/// The end of what an allocation takes: its red zone ends where another begins.
uint64_t taken_until(const std::map<uint64_t, uint64_t>& taken, uint64_t base, uint64_t bytes) {
  const auto next = taken.upper_bound(base);
  const uint64_t end = base + (bytes + 255) / 256 * 256 + 256;
  return next == taken.end() ? end : std::min(end, next->first);
}

TEST(DeviceMemory, IsTakenFromTheSmallestGapThatFits) {
  Device d;
  test::Words words(7);
  std::map<uint64_t, uint64_t> taken;  // also by the 1024 allocations that were freed last
  std::vector<uint64_t> live;
  std::deque<uint64_t> held;
  for (int step = 0; step < 6000; ++step) {
    if (live.empty() || words.next() % 5 < 3) {
      const uint64_t bytes = 1 + words.next() % 2000, expected = smallest_fit(taken, bytes);
      ASSERT_EQ(d.allocate(bytes, {}).value(), expected) << step;
      taken[expected] = taken_until(taken, expected, bytes);
      live.push_back(expected);
    } else {
      const auto victim = live.begin() + static_cast<ptrdiff_t>(words.next() % live.size());
      d.free(GmemAddr(*victim));
      held.push_back(*victim);
      live.erase(victim);
      if (held.size() <= 1024) continue;
      taken.erase(held.front());
      held.pop_front();
    }
  }
  EXPECT_EQ(held.size(), 1024u) << "some addresses were used again";
  for (const uint64_t base : live) d.free(GmemAddr(base));
  EXPECT_EQ(d.memory_used(), 0u);
}

/// Stores a word at its argument.
constexpr const char* kStoreWord = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 1;
  ret;
}
)";

RunResult store_at(Device& d, uint64_t at) { return d.launch(d.load_ptx(kStoreWord), "k", {.grid = {1}, .block = {1}}, Args().add(GmemAddr(at))); }

TEST(DeviceMemory, AnOverrunDoesNotReachTheNextAllocation) {
  Device d;
  const GmemAddr a = d.allocate(256, "first"), b = d.allocate(256, "second");
  EXPECT_TRUE(store_at(d, a.value() + 252).ok());
  EXPECT_TRUE(store_at(d, b.value()).ok());
  for (const uint64_t at : {a.value() + 256, b.value() - 4}) {
    const RunResult r = store_at(d, at);
    ASSERT_FALSE(r.ok()) << at;
    EXPECT_EQ(r.fault->code, Code::F3001);
    EXPECT_NE(r.fault->to_string().find("'first'"), std::string::npos) << r.fault->to_string();
  }
}

TEST(DeviceMemory, AVariableOverrunsIntoNothing) {
  Device d;
  const LoadedModule m = d.load(test::parse_or_throw(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .global .align 4 .b8 one[256];\n.visible .global .align 4 .b8 two[256];\n"));
  EXPECT_TRUE(store_at(d, m.symbol("one")->value() + 252).ok());
  EXPECT_FALSE(store_at(d, m.symbol("one")->value() + 256).ok());
}

TEST(DeviceMemory, AUseAfterFreeNamesTheAllocation) {
  Device d;
  const GmemAddr a = d.allocate(1000, "before"), other = d.allocate(8, "other");
  EXPECT_TRUE(store_at(d, other.value()).ok());
  d.free(a);
  EXPECT_NE(d.allocate(1000, "after"), a);
  const RunResult r = store_at(d, a.value() + 96);
  ASSERT_FALSE(r.ok());
  const std::string text = r.fault->to_string();
  EXPECT_NE(text.find("'before'"), std::string::npos) << text;
  EXPECT_NE(text.find("allocated before the first launch, was freed after launch 1"), std::string::npos) << text;
}

TEST(DeviceMemory, CapacityIsUsedToTheLastByte) {
  Device d;
  const uint64_t all = d.memory_free();
  EXPECT_LE(all, d.memory_capacity());
  EXPECT_THROW(d.allocate(all + 1, {}), InputError);
  EXPECT_THROW(d.allocate(~uint64_t{0}, {}), InputError);
  const GmemAddr a = d.allocate(all, {});
  EXPECT_THROW(d.allocate(1, {}), InputError);
  EXPECT_EQ(d.memory_free(), 0u);
  d.free(a);
  EXPECT_EQ(d.allocate(all, {}).value(), a.value());
}

Code code_of_allocation(Device& d, uint64_t bytes) {
  try {
    d.allocate(bytes, {});
  } catch (const InputError& e) {
    return e.code();
  }
  return Code::E1000;
}

TEST(DeviceMemory, OfADeviceEndsWhereTheHostsEnds) {
  Device d({.max_memory = 1 << 20});
  EXPECT_EQ(d.memory_free(), 1u << 20);
  EXPECT_GT(d.memory_capacity(), uint64_t{1} << 36) << "the device is what it is";
  EXPECT_EQ(code_of_allocation(d, (1 << 20) + 1), Code::E4105);
  EXPECT_EQ(code_of_allocation(d, d.memory_capacity() + 1), Code::E4100);
  d.allocate(1 << 19, {});
  EXPECT_EQ(d.memory_free(), 1u << 19);
}

// Half of what the host has, of which three pages are touched.
TEST(DeviceMemory, LargeAllocationsTakeHostMemoryWhereTheyAreWritten) {
  Device d;
  const uint64_t kBytes = d.memory_free() / 2;
  if (kBytes < uint64_t{2} << 30) GTEST_SKIP() << "the host has less than 4 GB";
  const uint64_t before = resident_bytes();
  const GmemAddr small = d.allocate(300, "small"), big = d.allocate(kBytes, "big");
  for (const uint64_t offset : {uint64_t{0}, kBytes / 3, kBytes - 1})
    EXPECT_EQ(byte_at(d, big, offset), 0xFF) << offset;
  d.fill(GmemAddr(big.value() + kBytes / 2), 0x12, 8192);
  EXPECT_EQ(byte_at(d, big, kBytes / 2), 0x12);
  EXPECT_EQ(byte_at(d, big, kBytes / 2 - 1), 0xFF);
  EXPECT_EQ(byte_at(d, big, kBytes / 2 + (64 << 20)), 0xFF) << "another view of the same file";
  d.fill(small, 0x34, 300);
  d.free(big);
  EXPECT_EQ(byte_at(d, small, 299), 0x34);
  const GmemAddr again = d.allocate(kBytes, "again");
  EXPECT_EQ(again.value(), big.value());
  EXPECT_EQ(byte_at(d, again, kBytes / 2), 0xFF) << "freed memory is poison again";
  EXPECT_LT(resident_bytes() - before, uint64_t{1} << 30);
}

// Two gigabytes in allocations of 40 MB and 3 MB: what is filled at once is bounded for all of them together.
TEST(DeviceMemory, AllAllocationsTogetherTakeHostMemoryWhereTheyAreTouched) {
  constexpr uint64_t kLarge = 40'000'000, kSmall = 3'000'001;
  Device d;
  if (d.memory_free() < uint64_t{3} << 30) GTEST_SKIP() << "the host has less than 4 GB";
  const uint64_t before = resident_bytes();
  std::vector<GmemAddr> all;
  for (int i = 0; i < 45; ++i) {
    all.push_back(d.allocate(kLarge, "large"));
    all.push_back(d.allocate(kSmall, "small"));
  }
  EXPECT_LT(resident_bytes() - before, uint64_t{320} << 20);
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t bytes = i % 2 == 0 ? kLarge : kSmall;
    for (const uint64_t offset : {uint64_t{0}, uint64_t{4096}, bytes / 2, bytes - 1}) ASSERT_EQ(byte_at(d, all[i], offset), 0xFF) << i << " " << offset;
    d.fill(GmemAddr(all[i].value() + 1000), static_cast<uint8_t>(i), 5000);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(byte_at(d, all[i], 999), 0xFF) << i;
    ASSERT_EQ(byte_at(d, all[i], 1000), i) << i;
    ASSERT_EQ(byte_at(d, all[i], 5999), i) << i;
    ASSERT_EQ(byte_at(d, all[i], 6000), 0xFF) << i;
  }
}

// The host's writes replace whole huge pages of poison; their neighbours, and what is allocated there later, do not notice.
TEST(DeviceMemory, HostWritesOfManyPagesKeepTheirNeighbours) {
  constexpr uint64_t kBytes = 100'000'000, kAt = 1'234'567, kPart = 60'000'000;
  Device d;
  if (d.memory_free() < uint64_t{2} << 30) GTEST_SKIP() << "the host has less than 4 GB";
  d.allocate(300'000'000, "what is filled at once");
  const GmemAddr a = d.allocate(kBytes, "a");
  const std::vector<uint8_t> part(kPart, 0x5A);
  d.write(GmemAddr(a.value() + kAt), part.data(), kPart);
  for (const uint64_t offset : {uint64_t{0}, kAt - 1, kAt + kPart, kBytes - 1}) EXPECT_EQ(byte_at(d, a, offset), 0xFF) << offset;
  std::vector<uint8_t> back(kPart);
  d.read(back.data(), GmemAddr(a.value() + kAt), kPart);
  EXPECT_EQ(back, part);
  d.free(a);
  const uint64_t rest = d.memory_free() - (1 << 20);  // red zones
  const GmemAddr again = d.allocate(rest, "nearly all of the rest");
  for (uint64_t offset = 0; offset < kBytes; offset += 65'536) ASSERT_EQ(byte_at(d, again, offset), 0xFF) << offset;
  EXPECT_EQ(again.value(), a.value());
}

TEST(DeviceMemory, LargeVariablesAreZeroAndTakeNoHostMemory) {
  Device d;
  const GmemAddr before = d.allocate(100, "before");
  d.fill(before, 0x55, 100);
  const uint64_t resident = resident_bytes(), bytes = d.memory_free() / 2;
  if (bytes < uint64_t{2} << 30) GTEST_SKIP() << "the host has less than 4 GB";
  const LoadedModule m = d.load_ptx(
      fmt::format(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .global .align 4 .b8 big[{}];\n"
                  ".visible .global .u32 next = 7;\n.visible .entry k() {{ ret; }}\n",
                  bytes),
      "big.ptx");
  const GmemAddr big = *m.symbol("big");
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{4095}, uint64_t{4096}, bytes / 2, bytes - 1})
    EXPECT_EQ(byte_at(d, big, offset), 0) << offset;
  EXPECT_EQ(byte_at(d, *m.symbol("next"), 0), 7);
  EXPECT_EQ(byte_at(d, before, 99), 0x55);
  EXPECT_LT(resident_bytes() - resident, uint64_t{1} << 30);
}

TEST(DeviceMemory, SharedVariablesOfAKernelAreLaidOutOnce) {
  Device d;
  const LoadedModule m = d.load(test::parse_or_throw(
      ".version 9.0\n.target sm_100a\n.address_size 64\n"
      ".visible .entry k() { .shared .align 4 .b8 s[4000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r], 1; ret; }\n"));
  EXPECT_EQ(d.static_smem(m, "k"), 4000u);
}

// 100,000 variables, each with the address of the one before, and 20,000 functions in a chain of calls 20
// deep.
TEST(DeviceMemory, ManyNames) {
  constexpr int kVariables = 100'000, kFunctions = 20'000;
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .global .u64 v0 = 0;\n";
  for (int i = 1; i < kVariables; ++i) text += fmt::format(".visible .global .u64 v{} = v{};\n", i, i - 1);
  for (int i = 0; i < kFunctions; ++i)
    text += fmt::format(".func f{}() {{ {} ret; }}\n", i,
                        i % 20 == 0 ? std::string() : fmt::format("call f{};", i - 1));
  text += ".visible .entry k() {\n";
  for (int i = 19; i < kFunctions; i += 20) text += fmt::format("call f{};\n", i);
  text += "ret; }\n";
  Device d;
  const LoadedModule m = d.load(test::parse_or_throw(text));
  const GmemAddr last = *m.symbol(fmt::format("v{}", kVariables - 1));
  uint64_t at = 0;
  d.read(&at, last, 8);
  EXPECT_EQ(at, m.symbol(fmt::format("v{}", kVariables - 2))->value());
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args());
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  EXPECT_EQ(r.warp_instructions, 2u * kFunctions - kFunctions / 20 + kFunctions / 20 + 1);
}

}  // namespace
}  // namespace drywell::sim
