#include "sim/exec/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace drywell::sim {
namespace {

uint64_t page_bytes() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// The first number of a file; `otherwise` if there is none ("max").
uint64_t number_in(const char* path, uint64_t otherwise) {
  uint64_t n = 0;
  return std::ifstream(path) >> n ? n : otherwise;
}

uint64_t all_memory() {
  const uint64_t host = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  const uint64_t group = std::min(number_in("/sys/fs/cgroup/memory.max", host), number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", host));
  return std::min(host, group);
}

uint64_t resident() {
  std::ifstream in("/proc/self/statm");
  uint64_t all = 0, pages = 0;
  in >> all >> pages;
  return pages * page_bytes();
}

}  // namespace

// Half: the vectors that grow hold their old and their new content for a moment.
bool host_memory_is_short() { return resident() > all_memory() / 2; }

}  // namespace drywell::sim
