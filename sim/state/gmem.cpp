#include "sim/state/gmem.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/core/sizes.h"
#include "sim/state/state_memory.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kGranule = 256;  // allocations begin at multiples of it, unless they ask for less
constexpr uint8_t kPoison = 0xFF;
/// Addresses behind an allocation that belong to nothing: one that is overrun does not run into the next one.
constexpr uint64_t kRedZone = 256;
/// Freed addresses that are held back, and freed allocations that messages know.
constexpr uint64_t kMostHeldBytes = 1 << 30;
constexpr size_t kMostFreed = 1024;
/// Memory at the first addresses is filled when it is allocated, in huge pages: kernels run faster on them. Memory behind it is poison that
/// takes host memory by the page, where it is touched.
constexpr uint64_t kAtOnce = 256 << 20;
/// Below this, memory behind kAtOnce is filled at once, too: the host counts mappings (65,530 of a process), and each view is one.
constexpr uint64_t kLeastView = 1 << 20, kMostViews = 16'384;
/// The host's pages; huge ones, which take the place of poison that the host overwrites, from kLarge bytes on.
constexpr uint64_t kPage = 4096, kWritePage = 2 << 20, kLarge = 16 << 20;

void fill(uint8_t* from, uint8_t* to) { std::memset(from, kPoison, static_cast<size_t>(to - from)); }

/// Fresh zeroed memory takes the place of the whole pages inside [from, to).
void zero_pages(uint8_t* from, uint8_t* to, uint64_t page) {
  const auto first = round_up(reinterpret_cast<uintptr_t>(from), page), last = reinterpret_cast<uintptr_t>(to) / page * page;
  if (last <= first) return;
  void* const at = mmap(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at != MAP_FAILED) prefer_huge_pages(at, last - first);
}

/// Gives the whole pages inside [at, at + bytes) back to the host.
void drop_pages(uint8_t* at, uint64_t bytes) {
  const auto first = round_up(reinterpret_cast<uintptr_t>(at), kPage);
  const auto last = (reinterpret_cast<uintptr_t>(at) + bytes) / kPage * kPage;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

Gmem::Gmem(uint64_t capacity, uint64_t host_bytes) : capacity_(capacity), reserved_(std::min(capacity, std::max(host_bytes, kGranule) / kGranule * kGranule)) {
  void* p = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw InputError(Code::E4101, fmt::format("cannot reserve {} bytes of host address space", reserved_));
  base_ = static_cast<uint8_t*>(p);
  insert_gap(window::kGlobalBase, window::kGlobalBase + reserved_);
}

Gmem::~Gmem() { munmap(base_, reserved_); }

void Gmem::insert_gap(uint64_t begin, uint64_t end) {
  gaps_.emplace(begin, end);
  gaps_by_size_.emplace(end - begin, begin);
}

void Gmem::erase_gap(Gaps::iterator gap) {
  gaps_by_size_.erase({gap->second - gap->first, gap->first});
  gaps_.erase(gap);
}

// The smallest gap that fits, of those the lowest: deterministic, and freed memory is used again. Gaps begin at granules.
Gmem::Gaps::iterator Gmem::smallest_gap(uint64_t bytes, uint64_t align) {
  const uint64_t slack = align > kGranule ? align - kGranule : 0;
  const auto found = gaps_by_size_.lower_bound({size_sum(bytes, slack), 0});
  return found == gaps_by_size_.end() ? gaps_.end() : gaps_.find(found->second);
}

uint64_t Gmem::take_from(Gaps::iterator gap, uint64_t at, uint64_t bytes) {
  const auto [begin, end] = *gap;
  erase_gap(gap);
  if (at > begin) insert_gap(begin, at);
  const uint64_t behind = std::min(at + round_up(bytes, kGranule) + kRedZone, end);
  if (behind < end) insert_gap(behind, end);
  return behind;
}

void Gmem::hold(const Allocation& a) {
  freed_.push_back({a.base, a.size, a.space_end, a.made_after, launches_, a.name});
  if (a.borrowed) freed_.back().space_end = a.base;  // the caller's addresses
  ++held_;
  held_bytes_ += a.borrowed ? 0 : a.size;
  while (held_ > kMostFreed || held_bytes_ > kMostHeldBytes) let_go();
  while (freed_.size() > kMostFreed) freed_.pop_front();
}

// Gives the addresses that were freed first back to the gaps.
void Gmem::let_go() {
  const Freed& f = freed_[freed_.size() - held_--];
  if (f.space_end == f.base) return;
  held_bytes_ -= f.size;
  add_gap(f.base, f.space_end);
}

void Gmem::add_gap(uint64_t begin, uint64_t end) {
  const auto behind = gaps_.lower_bound(begin);
  if (behind != gaps_.end() && behind->first == end) {
    end = behind->second;
    erase_gap(behind);
  }
  const auto after = gaps_.lower_bound(begin);
  if (after != gaps_.begin() && std::prev(after)->second == begin) {
    begin = std::prev(after)->first;
    erase_gap(std::prev(after));
  }
  insert_gap(begin, end);
}

void Gmem::refuse(uint64_t bytes) const {
  if (bytes > capacity_ - used_ || reserved_ == capacity_) {
    throw InputError(Code::E4100, fmt::format("out of device memory: {} bytes asked, {} of {} in use", bytes, used_, capacity_));
  }
  throw InputError(Code::E4105, fmt::format("out of host memory: {} bytes of device memory asked, {} in use, {} at most", bytes, used_, reserved_), "the most is seven eighths of what the host has left, or less by --memory");
}

void Gmem::poison(Allocation& a) {
  uint8_t *const first = a.data, *const last = first + a.size;
  uint8_t* const by_page = std::clamp(base_ + std::min(kAtOnce, reserved_), first, last);
  prefer_huge_pages(first, static_cast<uint64_t>(by_page - first));
  fill(first, by_page);
  a.untouched = static_cast<uint64_t>(last - by_page) >= std::max(kLeastView, reserved_ / kMostViews);
  if (!a.untouched) return fill(by_page, last);
  const auto [from, to] = poison_.show(by_page, last);
  fill(by_page, from);
  fill(to, last);
}

GmemAddr Gmem::allocate(uint64_t bytes, std::string name, uint64_t align) {
  const uint64_t want = std::max<uint64_t>(bytes, 1);
  auto gap = want > capacity_ ? gaps_.end() : smallest_gap(want, align);
  while (gap == gaps_.end() && want <= capacity_ && held_ != 0) {
    let_go();
    gap = smallest_gap(want, align);
  }
  if (gap == gaps_.end()) refuse(want);
  const uint64_t at = round_up(gap->first, align);
  auto a = std::make_unique<Allocation>(Allocation{at, want, host_at(at), std::move(name)});
  poison(*a);
  a->space_end = take_from(gap, at, want);
  a->made_after = launches_;
  used_ += want;
  by_base_.emplace(at, std::move(a));
  return GmemAddr(at);
}

GmemAddr Gmem::map_host(void* host, uint64_t bytes, std::string name) {
  const uint64_t first = reinterpret_cast<uintptr_t>(host), end = size_sum(first, bytes);
  const Allocation* below = nearest_below(end == first ? first : end - 1);
  const bool in_window = end > window::generic(window::kCodeHigh, 0) && first < window::kGlobalBase + capacity_;
  if (bytes == 0 || in_window || (below != nullptr && below->base + below->size > first)) {
    throw InputError(Code::E4104, fmt::format("{} bytes of host memory at {:#x} cannot be device memory: the addresses are taken", bytes, first));
  }
  auto a = std::make_unique<Allocation>(Allocation{.base = first, .size = bytes, .data = static_cast<uint8_t*>(host), .name = std::move(name), .borrowed = true, .made_after = launches_});
  a->written.add_all();  // the host writes it as it likes
  by_base_.emplace(first, std::move(a));
  return GmemAddr(first);
}

bool Gmem::release(GmemAddr addr) {
  const auto it = by_base_.find(addr.value());
  if (it == by_base_.end()) return false;
  const Allocation& a = *it->second;
  if (!a.borrowed) {
    used_ -= a.size;
    drop_pages(a.data, a.size);
  }
  hold(a);
  it->second->size = 0;
  ended_.push_back(std::move(it->second));
  by_base_.erase(it);
  return true;
}

uint64_t Gmem::heap_allocate(uint64_t bytes, uint64_t align) {
  if (bytes == 0 || bytes > heap_limit_ || heap_bytes_ > heap_limit_ - bytes) return 0;
  const uint64_t at = allocate(bytes, fmt::format("malloc {} of a kernel", heap_made_++), align).value();
  heap_.insert(at);
  heap_bytes_ += bytes;
  return at;
}

bool Gmem::heap_release(uint64_t addr) {
  if (heap_.erase(addr) == 0) return false;
  heap_bytes_ -= find(addr)->size;
  return release(GmemAddr(addr));
}

void Gmem::free_heap() {
  while (!heap_.empty()) heap_release(*heap_.begin());
}

void Gmem::clear(GmemAddr addr) {
  const Allocation* a = find(addr.value());
  DRYWELL_CHECK(a != nullptr && a->base == addr.value() && !a->borrowed, "only an allocation is cleared");
  if (a->size < kLarge) {
    std::memset(a->data, 0, a->size);
    return;
  }
  // The first and the last page may be shared with other allocations.
  std::memset(a->data, 0, kPage);
  std::memset(a->data + a->size - kPage, 0, kPage);
  zero_pages(a->data, a->data + a->size, kPage);
}

// Copying poison that is overwritten at once would take the time of three copies, and huge pages are faster for the kernel, too.
void Gmem::will_overwrite(uint64_t addr, uint64_t bytes) {
  const Allocation* a = bytes < kLarge ? nullptr : find(addr);
  if (a == nullptr || !a->untouched) return;
  uint8_t* const first = a->data + (addr - a->base);
  zero_pages(std::max(first, base_ + kAtOnce), first + bytes, kWritePage);
}

std::vector<const Gmem::Allocation*> Gmem::allocations() const {
  std::vector<const Allocation*> all;
  all.reserve(by_base_.size());
  for (const auto& [base, a] : by_base_) all.push_back(a.get());
  return all;
}

const Gmem::Allocation* Gmem::nearest_below(uint64_t addr) const {
  const auto it = by_base_.upper_bound(addr);
  return it == by_base_.begin() ? nullptr : std::prev(it)->second.get();
}

void Gmem::note_write(uint64_t addr, uint64_t bytes) {
  if (const Allocation* a = find(addr); a != nullptr) const_cast<Allocation*>(a)->written.add(addr, addr + std::min(bytes, a->size - (addr - a->base)));
}

void Gmem::forget(uint64_t addr, uint64_t bytes) {
  const Allocation* a = find(addr);
  if (a == nullptr || bytes > a->size - (addr - a->base)) return;
  fill(a->data + (addr - a->base), a->data + (addr - a->base) + bytes);
  if (!a->borrowed && bytes == a->size) const_cast<Allocation*>(a)->written = {};
}

void Gmem::begin_launch() {
  ++launches_;
  ended_.clear();
  for (const auto& [base, a] : by_base_) {
    if (!writes_known_) a->written.add_all();
    a->untouched = false;
  }
  writes_known_ = false;
}

namespace {

/// The end of an allocation relative to an address near it.
std::string end_from(uint64_t address, uint64_t end) {
  if (address == end) return "there";
  return address > end ? fmt::format("{} bytes before", address - end) : fmt::format("{} bytes after", end - address);
}

std::string launches(uint64_t n) { return n == 0 ? "before the first launch" : fmt::format("after launch {}", n); }

}  // namespace

std::string Gmem::neighbourhood(uint64_t addr) const {
  const auto was_here = [&](const Freed& f) { return addr >= f.base && addr - f.base < f.size; };
  if (const auto f = std::find_if(freed_.rbegin(), freed_.rend(), was_here); f != freed_.rend()) {
    return fmt::format("; '{}' at {:#x} with {} bytes, allocated {}, was freed {}", f->name, f->base, f->size, launches(f->made_after), launches(f->freed_after));
  }
  const Allocation* a = nearest_below(addr);
  if (a == nullptr) return {};
  return fmt::format("; the allocation below is '{}' at {:#x} with {} bytes, which ends {}", a->name, a->base, a->size, end_from(addr, a->base + a->size));
}

const Gmem::Allocation* Gmem::find(uint64_t addr) const {
  const Allocation* a = nearest_below(addr);
  return a != nullptr && addr - a->base < a->size ? a : nullptr;
}

}  // namespace drywell::sim
