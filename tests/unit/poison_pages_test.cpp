// Pages of poison that take host memory where they are written.
#include "drywell/core/poison_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "drywell/core/host_memory.h"

namespace drywell {
namespace {

/// Zeroed memory of this process.
class Mapped {
 public:
  explicit Mapped(size_t bytes) : bytes_(bytes), at_(static_cast<uint8_t*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Mapped() { ::munmap(at_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  uint8_t* at(size_t offset) const { return at_ + offset; }

 private:
  size_t bytes_;
  uint8_t* at_;
};

bool all(const uint8_t* from, const uint8_t* to, uint8_t value) {
  return std::all_of(from, to, [&](uint8_t b) { return b == value; });
}

TEST(PoisonPages, AreWholePagesInsideTheRange) {
  const Mapped m(1 << 20);
  PoisonPages pages;
  const auto [from, to] = pages.show(m.at(100), m.at(40'000));
  EXPECT_EQ(from, m.at(4096));
  EXPECT_EQ(to, m.at(36'864));
  EXPECT_TRUE(all(m.at(0), from, 0) && all(from, to, 0xFF) && all(to, m.at(1 << 20), 0));
  EXPECT_EQ(pages.show(m.at(5000), m.at(8000)), std::pair(m.at(5000), m.at(5000))) << "no whole page";
}

TEST(PoisonPages, AWriteIsOfItsPageOnly) {
  const Mapped m(64 << 20);
  PoisonPages pages;
  pages.show(m.at(0), m.at(64 << 20));
  for (const size_t at : {size_t{5}, size_t{16} << 20, (size_t{48} << 20) - 1}) *m.at(at) = 7;
  EXPECT_EQ(std::count(m.at(0), m.at(64 << 20), 7), 3);
  EXPECT_EQ(std::count(m.at(0), m.at(64 << 20), 0xFF), (64 << 20) - 3);
  pages.show(m.at(0), m.at(64 << 20));
  EXPECT_TRUE(all(m.at(0), m.at(64 << 20), 0xFF)) << "shown again";
}

TEST(PoisonPages, TakeNoHostMemoryUntilTheyAreWritten) {
  constexpr size_t kBytes = size_t{1} << 40;  // no host has that
  const Mapped m(kBytes);
  PoisonPages pages;
  const uint64_t before = resident_bytes();
  for (size_t at = 0; at < kBytes; at += size_t{1} << 34) pages.show(m.at(at), m.at(at + (32 << 20)));
  for (size_t at = 0; at < kBytes; at += size_t{1} << 34) *m.at(at + (20 << 20)) = 1;
  EXPECT_LT(resident_bytes() - before, uint64_t{64} << 20);
}

}  // namespace
}  // namespace drywell
