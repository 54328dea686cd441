#include "drywell/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <new>
#include <utility>

namespace drywell {
namespace {

using Pieces = std::vector<std::pair<uint64_t, uint64_t>>;

Pieces pieces_of(uint64_t count, unsigned threads) {
  std::mutex mutex;
  Pieces all;
  parallel_for(count, threads, [&](uint64_t first, uint64_t end) {
    const std::lock_guard lock(mutex);
    all.emplace_back(first, end);
  });
  std::sort(all.begin(), all.end());
  return all;
}

TEST(ParallelFor, PiecesCoverTheRangeOnce) {
  EXPECT_EQ(pieces_of(10, 4), (Pieces{{0, 2}, {2, 5}, {5, 7}, {7, 10}}));
  EXPECT_EQ(pieces_of(10, 1), (Pieces{{0, 10}}));
}

TEST(ParallelFor, NoThreadIsWithoutWork) {
  EXPECT_EQ(pieces_of(2, 8), (Pieces{{0, 1}, {1, 2}}));
  EXPECT_EQ(pieces_of(0, 8), (Pieces{{0, 0}}));
}

TEST(ParallelFor, TheFirstPieceIsTheCallers) {
  const auto caller = std::this_thread::get_id();
  parallel_for(4, 4, [&](uint64_t first, uint64_t) { EXPECT_EQ(std::this_thread::get_id() == caller, first == 0); });
}

// A piece that fails ends neither the process nor the others; its exception is the caller's.
TEST(ParallelFor, ThrowsWhatAPieceThrows) {
  for (const uint64_t bad : {0, 3}) {
    std::atomic<int> ended{0};
    const auto body = [&](uint64_t first, uint64_t) {
      ++ended;
      if (first == bad) throw std::bad_alloc();
    };
    EXPECT_THROW(parallel_for(4, 4, body), std::bad_alloc) << bad;
    EXPECT_EQ(ended, 4);
  }
}

TEST(HostThreads, AreTheCoresUnlessToldOtherwise) {
  EXPECT_EQ(host_threads(7), 7u);
  EXPECT_GE(host_threads(), 1u);
}

// 1 GB of addresses: half is for the threads, 128 MB each.
TEST(HostThreads, FitIntoALimitOfAddresses) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = before;
  limit.rlim_cur = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + (uint64_t{1} << 30);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const unsigned fit = host_threads(32), one = host_threads(1);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_GE(fit, 4u);
  EXPECT_LE(fit, 5u);
  EXPECT_EQ(one, 1u);
  EXPECT_EQ(wanted_threads(32), 32u);
}

}  // namespace
}  // namespace drywell
