#include "cudart/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "cudart/call.h"
#include "drywell/core/bits.h"

namespace drywell::cudart {
namespace {

// Addresses of reservations, far from pinned memory's (memory.cpp): the same in every run.
constexpr uint64_t kReservedBase = 0x2000'0000'0000, kReservedEnd = 0x4000'0000'0000;

void* pointer(uint64_t at) { return reinterpret_cast<void*>(at); }

}  // namespace

VirtualMemory::~VirtualMemory() { clear(); }

void VirtualMemory::clear() {
  hide(0, ~uint64_t{0});
  mappings_.clear();
  handles_.clear();
  for (const auto& [at, bytes] : reserved_) ::munmap(pointer(at), bytes);
  reserved_.clear();
}

uint64_t VirtualMemory::reserve(uint64_t bytes, uint64_t alignment) {
  require_value(bytes != 0 && bytes % kGranularity == 0 && (alignment & (alignment - 1)) == 0);
  const uint64_t align = std::max(alignment, kGranularity);
  uint64_t at = round_up(kReservedBase, align);
  for (const auto& [base, size] : reserved_) {
    if (base >= at && base - at >= bytes) break;
    at = round_up(base + size, align);
  }
  require(at < kReservedEnd && bytes < kReservedEnd - at, CudaError::memory_allocation);
  void* const p = ::mmap(pointer(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  require(p != MAP_FAILED, CudaError::memory_allocation);
  reserved_[at] = bytes;
  return at;
}

void VirtualMemory::give_back(uint64_t base, uint64_t bytes) {
  const auto it = reserved_.find(base);
  require_value(it != reserved_.end() && it->second == bytes);
  const auto mapped = mappings_.lower_bound(base);
  require_value(mapped == mappings_.end() || mapped->first >= base + bytes);
  ::munmap(pointer(base), bytes);
  reserved_.erase(it);
}

uint64_t VirtualMemory::create(uint64_t bytes) {
  require_value(bytes != 0 && bytes % kGranularity == 0);
  require(device_.memory_used() + created() + bytes <= device_.memory_capacity(), CudaError::memory_allocation);
  handles_[next_handle_] = {std::make_shared<PhysicalMemory>(bytes, memory_, created_)};
  return next_handle_++;
}

void VirtualMemory::retain(uint64_t handle) {
  const auto it = handles_.find(handle);
  require_value(it != handles_.end());
  ++it->second.count;
}

void VirtualMemory::release(uint64_t handle) {
  const auto it = handles_.find(handle);
  require_value(it != handles_.end());
  if (--it->second.count == 0) handles_.erase(it);
}

uint64_t VirtualMemory::bytes_of(uint64_t handle) const {
  const auto it = handles_.find(handle);
  require_value(it != handles_.end());
  return it->second.memory->bytes();
}

void VirtualMemory::map(uint64_t at, uint64_t bytes, uint64_t offset, uint64_t handle) {
  const auto h = handles_.find(handle);
  require_value(h != handles_.end() && bytes != 0 && at % kGranularity == 0 && bytes % kGranularity == 0 && offset % kGranularity == 0);
  require_value(offset <= h->second.memory->bytes() && bytes <= h->second.memory->bytes() - offset);
  const auto r = reserved_.upper_bound(at);
  require_value(r != reserved_.begin() && at - std::prev(r)->first <= std::prev(r)->second && bytes <= std::prev(r)->second - (at - std::prev(r)->first));
  const auto next = mappings_.lower_bound(at);
  require_value(next == mappings_.end() || next->first >= at + bytes);
  require_value(next == mappings_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= at);
  h->second.memory->show(at, bytes, offset);
  mappings_[at] = {bytes, handle, h->second.memory, false};
}

/// Calls f for the mappings that make up a range exactly.
template <class F>
void VirtualMemory::for_range(uint64_t at, uint64_t bytes, F&& f) {
  std::vector<Mappings::iterator> all;
  for (uint64_t done = 0; done < bytes;) {
    const auto it = mappings_.find(at + done);
    require_value(it != mappings_.end() && it->second.bytes <= bytes - done);
    all.push_back(it);
    done += it->second.bytes;
  }
  for (const auto& it : all) f(it);
}

void VirtualMemory::unmap(uint64_t at, uint64_t bytes) {
  for_range(at, bytes, [](auto) {});
  hide(at, at + bytes);
  for_range(at, bytes, [&](auto it) {
    it->second.memory->hide(it->first, it->second.bytes);
    mappings_.erase(it);
  });
  show();
}

void VirtualMemory::set_access(uint64_t at, uint64_t bytes, bool allowed) {
  for_range(at, bytes, [](auto) {});
  hide(at, at + bytes);
  for_range(at, bytes, [&](auto it) { it->second.accessible = allowed; });
  show();
}

bool VirtualMemory::accessible(uint64_t at) const {
  const auto it = mappings_.upper_bound(at);
  require_value(it != mappings_.begin() && at - std::prev(it)->first < std::prev(it)->second.bytes);
  return std::prev(it)->second.accessible;
}

uint64_t VirtualMemory::handle_at(uint64_t at) const {
  const auto it = mappings_.upper_bound(at);
  require_value(it != mappings_.begin() && at - std::prev(it)->first < std::prev(it)->second.bytes);
  return std::prev(it)->second.handle;
}

// Allocations that touch the range, at its ends too, are taken back; show() makes them anew.
void VirtualMemory::hide(uint64_t begin, uint64_t end) {
  for (const uint64_t base : memory_.mapped_near(begin, end)) memory_.hide_mapped(base);
}

void VirtualMemory::show() {
  for (auto it = mappings_.begin(); it != mappings_.end();) {
    const uint64_t begin = it->first;
    uint64_t end = begin;
    for (; it != mappings_.end() && it->first == end && it->second.accessible; ++it) end += it->second.bytes;
    if (end == begin) {
      ++it;
      continue;
    }
    if (!memory_.find(pointer(begin)).has_value()) memory_.show_mapped(begin, end - begin);
  }
}

}  // namespace drywell::cudart
