#include "sim/state/state_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "drywell/core/bits.h"
#include "sim/state/state_vector.h"

namespace drywell::sim {
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr size_t kAlign = 64;  // the host's cache line

}  // namespace

void prefer_huge_pages(void* at, size_t bytes) {
  const auto first = round_up(reinterpret_cast<uintptr_t>(at), kHugePage);
  const auto last = (reinterpret_cast<uintptr_t>(at) + bytes) / kHugePage * kHugePage;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // has no effect on a host without huge pages
}

void StateMemory::Free::operator()(void* at) const { std::free(at); }

void* StateMemory::take(size_t bytes) {
  const size_t size = round_up(bytes, kAlign);
  const std::lock_guard lock(mutex_);
  if (auto& same = unused_[size]; !same.empty()) {
    void* at = same.back();
    same.pop_back();
    return at;
  }
  if (size > left_) {
    const size_t chunk = round_up(size, kHugePage);
    void* at = std::aligned_alloc(kHugePage, chunk);
    if (at == nullptr) throw std::bad_alloc();
    chunks_.emplace_back(at);
    prefer_huge_pages(at, chunk);
    next_ = static_cast<std::byte*>(at);
    left_ = chunk;
  }
  void* at = next_;
  next_ += size;
  left_ -= size;
  return at;
}

void StateMemory::give_back(void* at, size_t bytes) {
  const std::lock_guard lock(mutex_);
  unused_[round_up(bytes, kAlign)].push_back(at);
}

void* take_state(StateMemory& from, size_t bytes) { return from.take(bytes); }
void give_back_state(StateMemory& to, void* at, size_t bytes) { to.give_back(at, bytes); }

}  // namespace drywell::sim
