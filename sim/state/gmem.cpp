#include "sim/state/gmem.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

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
/// Large allocations are views of one file of this size, and take host memory where they are written. Below kLarge, memory in huge pages
/// is faster.
constexpr uint64_t kView = 64 << 20, kLarge = 512 << 20;

void fill(uint8_t* from, uint8_t* to) { std::memset(from, kPoison, static_cast<size_t>(to - from)); }

/// Returns a file of kView bytes of poison, or -1: then memory is filled at once.
int make_poison() {
  const int file = ::memfd_create("drywell-poison", MFD_CLOEXEC);
  if (file < 0) return -1;
  void* at = ::ftruncate(file, kView) == 0 ? mmap(nullptr, kView, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (at == MAP_FAILED) {
    ::close(file);
    return -1;
  }
  std::memset(at, kPoison, kView);
  munmap(at, kView);
  return file;
}

/// Shows the file's poison in the whole views inside [from, to); the host's pages are copied when they are written. Returns the part
/// that is done.
std::pair<uint8_t*, uint8_t*> show_poison(int file, uint8_t* from, uint8_t* to) {
  auto* at = reinterpret_cast<uint8_t*>(round_up(reinterpret_cast<uintptr_t>(from), 4096));
  uint8_t* const first = at;
  while (static_cast<uint64_t>(to - at) >= kView) {
    if (mmap(at, kView, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) break;
    at += kView;
  }
  return {first, at};
}

/// Gives the whole pages inside [at, at + bytes) back to the host.
void drop_pages(uint8_t* at, uint64_t bytes) {
  const auto first = round_up(reinterpret_cast<uintptr_t>(at), 4096);
  const auto last = (reinterpret_cast<uintptr_t>(at) + bytes) / 4096 * 4096;
  if (last <= first) return;
  auto* const from = reinterpret_cast<void*>(first);
  if (bytes < kLarge) madvise(from, last - first, MADV_DONTNEED);
  else mmap(from, last - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

Gmem::Gmem(uint64_t capacity) : capacity_(capacity) {
  void* p = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw InputError(Code::E4101, fmt::format("cannot reserve {} bytes of host address space", capacity));
  base_ = static_cast<uint8_t*>(p);
  add_gap(window::kGlobalBase, window::kGlobalBase + capacity);
}

Gmem::~Gmem() {
  for (Allocation* a : by_base_) delete a;
  munmap(base_, capacity_);
  if (poison_ >= 0) ::close(poison_);
}

// The first gap that fits, from the bottom: deterministic, and freed memory is used again.
Gmem::Gaps::iterator Gmem::first_gap(uint64_t bytes, uint64_t align) {
  auto gap = gaps_.begin();
  while (gap != gaps_.end() && size_sum(size_rounded_up(gap->first, align), bytes) > gap->second) ++gap;
  return gap;
}

void Gmem::take_from(Gaps::iterator gap, uint64_t at, uint64_t bytes) {
  const auto [begin, end] = *gap;
  gaps_.erase(gap);
  if (at > begin) gaps_.emplace(begin, at);
  const uint64_t behind = at + round_up(bytes, kGranule);
  if (behind < end) gaps_.emplace(behind, end);
}

void Gmem::add_gap(uint64_t begin, uint64_t end) {
  const auto behind = gaps_.lower_bound(begin);
  if (behind != gaps_.end() && behind->first == end) {
    end = behind->second;
    gaps_.erase(behind);
  }
  const auto after = gaps_.lower_bound(begin);
  if (after != gaps_.begin() && std::prev(after)->second == begin) std::prev(after)->second = end;
  else gaps_.emplace(begin, end);
}

GmemAddr Gmem::allocate(uint64_t bytes, std::string name, uint64_t align) {
  const uint64_t want = std::max<uint64_t>(bytes, 1);
  const auto gap = want > capacity_ ? gaps_.end() : first_gap(want, align);
  if (gap == gaps_.end()) throw InputError(Code::E4100, fmt::format("out of device memory: {} bytes asked, {} of {} in use", bytes, used_, capacity_));
  const uint64_t at = round_up(gap->first, align);
  auto a = std::make_unique<Allocation>(Allocation{at, want, host_at(at), std::move(name)});
  const auto index = std::lower_bound(by_base_.begin(), by_base_.end(), at, [](const Allocation* b, uint64_t v) { return b->base < v; });
  uint8_t *const first = a->data, *const last = first + want;
  if (want >= kLarge && poison_ < 0) poison_ = make_poison();
  if (want >= kLarge && poison_ >= 0) {
    const auto [from, to] = show_poison(poison_, first, last);
    fill(first, from);
    fill(to, last);
  } else {
    prefer_huge_pages(first, want);
    fill(first, last);
  }
  take_from(gap, at, want);
  used_ += want;
  by_base_.insert(index, a.release());
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
  const auto it = std::lower_bound(by_base_.begin(), by_base_.end(), addr.value(), [](const Allocation* a, uint64_t v) { return a->base < v; });
  if (it == by_base_.end() || (*it)->base != addr.value()) return false;
  const Allocation& a = **it;
  if (!a.borrowed) {
    used_ -= a.size;
    drop_pages(a.data, a.size);
    add_gap(a.base, std::min(a.base + round_up(a.size, kGranule), window::kGlobalBase + capacity_));
  }
  delete *it;
  by_base_.erase(it);
  return true;
}

void Gmem::clear(GmemAddr addr) {
  const Allocation* a = find(addr.value());
  DRYWELL_CHECK(a != nullptr && a->base == addr.value() && !a->borrowed, "only an allocation is cleared");
  if (a->size < kLarge) {
    std::memset(a->data, 0, a->size);
    return;
  }
  constexpr uint64_t kEdge = 4096;  // the first and the last page may be shared with other allocations
  std::memset(a->data, 0, kEdge);
  std::memset(a->data + a->size - kEdge, 0, kEdge);
  drop_pages(a->data, a->size);
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
