#include "cudart/allocation_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::cudart {
namespace {

const char* kind(MemoryType t) { return t == MemoryType::device ? "device" : t == MemoryType::managed ? "managed"
                                                                                                      : "pinned"; }

}  // namespace

void AllocationLog::add(uint64_t base, uint64_t bytes, MemoryType type) {
  entries_.push_back({base, bytes, type, false, type == MemoryType::device ? on_device_++ : 0, {}});
}

void AllocationLog::free(uint64_t base) {
  const auto it = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.base == base && !e.freed; });
  if (it != entries_.rend()) it->freed = true;
}

void AllocationLog::find_writers(const std::string& who, const std::function<bool(uint64_t, uint64_t)>& written) {
  for (Entry& e : entries_) {
    if (!e.freed && e.writer.empty() && written(e.base, e.bytes)) e.writer = who;
  }
}

std::string AllocationLog::list() const {
  std::string out = fmt::format("drywell: {} allocations of device memory (--corrupt=N+BYTE)\n", on_device_);
  for (const Entry& e : entries_) {
    if (e.type != MemoryType::device) continue;
    out += fmt::format("  {:>4}  {:>12} bytes  first written by {}\n", e.number, e.bytes, e.writer.empty() ? "nobody" : e.writer);
  }
  return out;
}

std::string AllocationLog::leaks() const {
  std::string lines;
  uint64_t bytes = 0, count = 0;
  for (const Entry& e : entries_) {
    if (e.freed) continue;
    const std::string number = e.type == MemoryType::device ? fmt::format("allocation {}", e.number) : "";
    lines += fmt::format("  {:>12} bytes of {} memory  {}\n", e.bytes, kind(e.type), number);
    bytes += e.bytes;
    ++count;
  }
  return count == 0 ? lines : fmt::format("drywell: {} allocations with {} bytes were never freed\n{}", count, bytes, lines);
}

}  // namespace drywell::cudart
