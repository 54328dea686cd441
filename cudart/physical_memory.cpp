#include "cudart/physical_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "cudart/call.h"
#include "drywell/core/bits.h"
#include "drywell/core/poison_pages.h"

namespace drywell::cudart {
namespace {

uint8_t* bytes_at(uint64_t at) { return reinterpret_cast<uint8_t*>(at); }

/// Addresses without memory; those at `wanted`, whatever is there, or any. nullptr if the host has none.
uint8_t* reserve(uint64_t bytes, uint8_t* wanted = nullptr) {
  void* const p = ::mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (wanted != nullptr ? MAP_FIXED : 0), -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
}

/// Addresses that begin at a multiple of a view's size: so a view's pages stay together when they move.
uint8_t* reserve_aligned(uint64_t bytes) {
  constexpr uint64_t kView = PoisonPages::kView;
  uint8_t* const all = reserve(bytes + kView);
  if (all == nullptr) return nullptr;
  uint8_t* const first = bytes_at(round_up(reinterpret_cast<uint64_t>(all), kView));
  if (first != all) ::munmap(all, static_cast<size_t>(first - all));
  ::munmap(first + bytes, static_cast<size_t>(all + kView - first));
  return first;
}

void map_file(int file, uint8_t* at, uint64_t bytes, uint64_t offset) {
  void* const p = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
  require(p != MAP_FAILED, CudaError::memory_allocation);
}

void write_all(int file, const uint8_t* from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = ::pwrite(file, from + done, bytes - done, static_cast<off_t>(done));
    require(n > 0, CudaError::memory_allocation);
    done += static_cast<uint64_t>(n);
  }
}

}  // namespace

PhysicalMemory::PhysicalMemory(uint64_t bytes, Memory& memory, std::shared_ptr<uint64_t> of_all)
    : taken_(memory, bytes, std::move(of_all)), home_(reserve_aligned(bytes)) {
  require(home_ != nullptr, CudaError::memory_allocation);
  if (memory.show_poison(home_, bytes)) return;
  ::munmap(home_, bytes);
  throw CallFailed{CudaError::memory_allocation};
}

PhysicalMemory::~PhysicalMemory() {
  if (home_ != nullptr) ::munmap(home_, bytes());
  if (has_file()) ::close(file_);
}

void PhysicalMemory::share() {
  file_ = ::memfd_create("drywell", MFD_CLOEXEC);
  require(has_file() && ::ftruncate(file_, static_cast<off_t>(bytes())) == 0, CudaError::memory_allocation);
  write_all(file_, pages(), bytes());
  if (shown_ != nullptr) map_file(file_, shown_, bytes(), 0);
  if (home_ != nullptr) ::munmap(home_, bytes());
  home_ = shown_ = nullptr;
}

void PhysicalMemory::show(uint64_t at, uint64_t n, uint64_t offset) {
  const bool alone = !has_file() && shown_ == nullptr && n == bytes();
  if (alone && PoisonPages::move(home_, bytes_at(at), n)) {
    home_ = nullptr;
    shown_ = bytes_at(at);
    return;
  }
  if (!has_file()) share();
  map_file(file_, bytes_at(at), n, offset);
}

void PhysicalMemory::hide(uint64_t at, uint64_t n) {
  if (shown_ == bytes_at(at)) {
    uint8_t* const home = reserve(n);
    require(home != nullptr && PoisonPages::move(shown_, home, n), CudaError::memory_allocation);
    home_ = home;
    shown_ = nullptr;
  }
  require(reserve(n, bytes_at(at)) != nullptr, CudaError::memory_allocation);
}

}  // namespace drywell::cudart
