#include "sim/state/gmem.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "sim/state/state_memory.h"

namespace drywell::sim {

Gmem::Gmem(uint64_t capacity) : capacity_(capacity) {
  void* p = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw InputError(Code::E4101, fmt::format("cannot reserve {} bytes of host address space", capacity));
  base_ = static_cast<uint8_t*>(p);
}

Gmem::~Gmem() {
  for (Allocation* a : by_base_) delete a;
  munmap(base_, capacity_);
}

GmemAddr Gmem::allocate(uint64_t bytes, std::string name, uint64_t align) {
  // First gap that fits, from the bottom: deterministic, and freed memory is used again.
  const uint64_t want = std::max<uint64_t>(bytes, 1);
  uint64_t at = window::kGlobalBase;
  const auto first = std::lower_bound(by_base_.begin(), by_base_.end(), at, [](const Allocation* a, uint64_t v) { return a->base < v; });
  auto index = static_cast<size_t>(first - by_base_.begin());
  for (; index < by_base_.size(); ++index) {
    const Allocation& a = *by_base_[index];
    if (round_up(at, align) + want <= a.base) break;
    at = a.base + round_up(a.size, 256);
  }
  at = round_up(at, align);
  if (want > capacity_ || at - window::kGlobalBase > capacity_ - want) {
    throw InputError(Code::E4100, fmt::format("out of device memory: {} bytes asked, {} of {} in use", bytes, used_, capacity_));
  }
  auto a = std::make_unique<Allocation>(Allocation{at, want, base_ + (at - window::kGlobalBase), std::move(name)});
  prefer_huge_pages(a->data, want);
  std::memset(a->data, 0xFF, want);
  used_ += want;
  by_base_.insert(by_base_.begin() + static_cast<ptrdiff_t>(index), a.release());
  return GmemAddr(at);
}

GmemAddr Gmem::map_host(void* host, uint64_t bytes, std::string name) {
  const uint64_t first = reinterpret_cast<uintptr_t>(host), end = first + bytes;
  const Allocation* below = nearest_below(end == first ? first : end - 1);
  const bool in_window = end > window::generic(window::kCodeHigh, 0) && first < window::kGlobalBase + capacity_;
  if (bytes == 0 || in_window || (below != nullptr && below->base + below->size > first)) {
    throw InputError(Code::E4104, fmt::format("{} bytes of host memory at {:#x} cannot be device memory: the addresses are taken", bytes, first));
  }
  const auto at = std::upper_bound(by_base_.begin(), by_base_.end(), first, [](uint64_t v, const Allocation* a) { return v < a->base; });
  by_base_.insert(at, new Allocation{first, bytes, static_cast<uint8_t*>(host), std::move(name), true, true});
  return GmemAddr(first);
}

bool Gmem::release(GmemAddr addr) {
  const auto it = std::find_if(by_base_.begin(), by_base_.end(), [&](const Allocation* a) { return a->base == addr.value(); });
  if (it == by_base_.end()) return false;
  if (!(*it)->borrowed) {
    used_ -= (*it)->size;
    // Returns whole pages to the host immediately.
    const auto first = round_up(reinterpret_cast<uintptr_t>((*it)->data), 4096);
    const auto last = (reinterpret_cast<uintptr_t>((*it)->data) + (*it)->size) / 4096 * 4096;
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  delete *it;
  by_base_.erase(it);
  return true;
}

const Gmem::Allocation* Gmem::nearest_below(uint64_t addr) const {
  const auto it = std::upper_bound(by_base_.begin(), by_base_.end(), addr, [](uint64_t v, const Allocation* a) { return v < a->base; });
  return it == by_base_.begin() ? nullptr : *std::prev(it);
}

void Gmem::note_host_write(uint64_t addr) {
  if (const Allocation* a = find(addr); a != nullptr) const_cast<Allocation*>(a)->host_wrote = true;
}

const Gmem::Allocation* Gmem::find(uint64_t addr) const {
  const Allocation* a = nearest_below(addr);
  return a != nullptr && addr - a->base < a->size ? a : nullptr;
}

}  // namespace drywell::sim
