#include "drywell/core/host_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "drywell/core/parallel.h"

namespace drywell {
namespace {

constexpr uint64_t kNoLimit = ~uint64_t{0};

uint64_t page_bytes() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

uint64_t less(uint64_t all, uint64_t part) { return all > part ? all - part : 0; }

/// The number that a file consists of; nothing for "max" or a missing file.
std::optional<uint64_t> number_in(const std::string& path) {
  uint64_t n = 0;
  return std::ifstream(path) >> n ? std::optional(n) : std::nullopt;
}

/// The number behind a word at the beginning of a line, for example "MemTotal:"; nothing if no line begins
/// so.
std::optional<uint64_t> number_behind(const std::string& path, std::string_view word) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    uint64_t n = 0;
    if (words >> first >> n && first == word) return n;
  }
  return std::nullopt;
}

/// The names of files of one version of control groups.
struct GroupFiles {
  const char *limit, *used, *cache;
};
constexpr GroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};

void limit_by_folder(const std::string& folder, const GroupFiles& files, HostMemory& m) {
  const std::optional<uint64_t> limit = number_in(folder + files.limit);
  if (!limit.has_value()) return;
  // The kernel drops what is cached of files before it ends a process.
  const uint64_t used = less(number_in(folder + files.used).value_or(0),
                             number_behind(folder + "/memory.stat", files.cache).value_or(0));
  m.total = std::min(m.total, *limit);
  m.available = std::min(m.available, less(*limit, used));
}

/// A group's limit holds for the groups in it, too.
void limit_by_group(const std::string& mount, std::string group, const GroupFiles& files, HostMemory& m) {
  while (!group.empty() && group != "/") {
    limit_by_folder(mount + group, files, m);
    group.resize(group.rfind('/'));
  }
  limit_by_folder(mount, files, m);
}

/// Lines of /proc/self/cgroup: "0::/path" (version 2), "4:memory:/path" (version 1).
void limit_by_groups(const std::string& root, HostMemory& m) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'),
                 second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      group = line.substr(second + 1);
    if (controllers == ",,") limit_by_group(root + "/sys/fs/cgroup", group, kVersion2, m);
    if (controllers.find(",memory,") != std::string::npos)
      limit_by_group(root + "/sys/fs/cgroup/memory", group, kVersion1, m);
  }
}

void limit_by_process(HostMemory& m) {
  struct rlimit space {
  }, data{};
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0, pages[5] = {};
  in >> size;
  for (uint64_t& p : pages) in >> p;
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    m.total = std::min<uint64_t>(m.total, space.rlim_cur);
    m.address_space = less(space.rlim_cur, size * page_bytes());
  }
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY) {
    m.total = std::min<uint64_t>(m.total, data.rlim_cur);
    m.address_space = std::min(m.address_space, less(data.rlim_cur, pages[4] * page_bytes()));
  }
  m.available = std::min(m.available, m.address_space);
}

}  // namespace

HostMemory host_memory(const std::string& root) {
  constexpr uint64_t kKilo = 1024;  // /proc/meminfo counts in them
  HostMemory m;
  const auto figure = [&](std::string_view name) {
    const std::optional<uint64_t> n = number_behind(root + "/proc/meminfo", name);
    return n.has_value() ? *n * kKilo : kNoLimit;
  };
  m.total = figure("MemTotal:");
  m.available = figure("MemAvailable:");
  limit_by_groups(root, m);
  if (root.empty()) limit_by_process(m);
  return m;
}

unsigned host_threads(unsigned wanted) {
  constexpr uint64_t kOfThread = 128u << 20;  // glibc: a stack of 8 MB, a heap of 64 MB at a multiple of its size
  const unsigned most = wanted_threads(wanted);
  if (most == 1) return 1;
  HostMemory m;
  limit_by_process(m);
  return static_cast<unsigned>(std::min<uint64_t>(most, 1 + m.address_space / 2 / kOfThread));
}

uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t all = 0, pages = 0;
  in >> all >> pages;
  return pages * page_bytes();
}

}  // namespace drywell
