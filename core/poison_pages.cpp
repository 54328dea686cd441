#include "drywell/core/poison_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"

namespace drywell {
namespace {

constexpr int kPoison = 0xFF;
constexpr uint64_t kPage = 4096, kView = PoisonPages::kView;

bool fill_file(int file) {
  void* const at = ::ftruncate(file, kView) == 0 ? ::mmap(nullptr, kView, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (at == MAP_FAILED) return false;
  std::memset(at, kPoison, kView);
  ::munmap(at, kView);
  return true;
}

}  // namespace

PoisonPages::~PoisonPages() {
  if (file_ >= 0) ::close(file_);
}

bool PoisonPages::has_file() {
  if (file_ >= 0) return true;
  file_ = ::memfd_create("drywell-poison", MFD_CLOEXEC);
  if (file_ < 0 || fill_file(file_)) return file_ >= 0;
  ::close(file_);
  file_ = -1;
  return false;
}

// A page's place in the file follows from its address: the host joins views that touch, so that many allocations are few mappings.
std::pair<uint8_t*, uint8_t*> PoisonPages::show(uint8_t* from, uint8_t* to) {
  uint64_t at = round_up(reinterpret_cast<uintptr_t>(from), kPage);
  const uint64_t first = at, last = reinterpret_cast<uintptr_t>(to) / kPage * kPage;
  while (at < last && has_file()) {
    const uint64_t offset = at % kView, bytes = std::min(kView - offset, last - at);
    void* const place = reinterpret_cast<void*>(at);
    if (::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_, static_cast<off_t>(offset)) == MAP_FAILED) break;
    at += bytes;
  }
  if (at == first) return {from, from};
  return {reinterpret_cast<uint8_t*>(first), reinterpret_cast<uint8_t*>(at)};
}

// The host moves pages of one mapping at a time: a view is one, and so is each part of it.
bool PoisonPages::move(uint8_t* from, uint8_t* to, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += kView) {
    const uint64_t n = std::min(kView, bytes - at);
    if (::mremap(from + at, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, to + at) != MAP_FAILED) continue;
    for (uint64_t back = 0; back < at; back += kView) ::mremap(to + back, kView, kView, MREMAP_MAYMOVE | MREMAP_FIXED, from + back);
    return false;
  }
  return true;
}

}  // namespace drywell
