#include "drywell/core/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/process.h"

namespace drywell {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNoLimit = ~uint64_t{0};
constexpr uint64_t kMega = 1 << 20;

/// A folder that stands for /, with the files of /proc and /sys that count.
class FakeRoot {
 public:
  FakeRoot& with(const std::string& file, const std::string& text) {
    const fs::path path = fs::path(directory_.path()) / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  FakeRoot& with_host() {
    return with("proc/meminfo",
                "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    8192 kB\n");
  }
  HostMemory read() const { return host_memory(directory_.path()); }

 private:
  test::TemporaryDirectory directory_;
};

TEST(HostMemory, IsWithoutLimitWhereNothingIsKnown) {
  const HostMemory m = FakeRoot().read();
  EXPECT_EQ(m.total, kNoLimit);
  EXPECT_EQ(m.available, kNoLimit);
}

TEST(HostMemory, OfTheHost) {
  FakeRoot root;
  const HostMemory m = root.with_host().read();
  EXPECT_EQ(m.total, 16 * kMega);
  EXPECT_EQ(m.available, 8 * kMega);
}

// The limit of the group above counts, and what is cached of files does not.
TEST(HostMemory, OfAGroupOfVersion2) {
  FakeRoot root;
  root.with_host()
      .with("proc/self/cgroup", "0::/a/b\n")
      .with("sys/fs/cgroup/a/b/memory.max", "max\n")
      .with("sys/fs/cgroup/a/b/memory.current", "1048576\n");
  root.with("sys/fs/cgroup/a/memory.max", "4194304\n")
      .with("sys/fs/cgroup/a/memory.current", "3145728\n")
      .with("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1048576\n");
  const HostMemory m = root.read();
  EXPECT_EQ(m.total, 4 * kMega);
  EXPECT_EQ(m.available, 2 * kMega);
}

TEST(HostMemory, OfAGroupOfVersion1) {
  FakeRoot root;
  root.with_host()
      .with("proc/self/cgroup", "9:cpu:/c\n4:cpuset,memory:/c\n")
      .with("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "5242880\n");
  root.with("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "6291456\n");
  const HostMemory m = root.read();
  EXPECT_EQ(m.total, 5 * kMega);
  EXPECT_EQ(m.available, 0u) << "more is used than the limit: nothing is left";
}

TEST(HostMemory, FilesThatMeanNothingAreNoLimit) {
  FakeRoot root;
  root.with("proc/meminfo", "MemTotal\n\nMemAvailable: many kB\n")
      .with("proc/self/cgroup", "::\n0\n0::relative\n\n");
  EXPECT_EQ(root.read().total, kNoLimit);
}

TEST(HostMemory, AProcessHoldsSome) {
  EXPECT_GT(resident_bytes(), kMega);
  EXPECT_LE(resident_bytes(), host_memory().total);
}

}  // namespace
}  // namespace drywell
