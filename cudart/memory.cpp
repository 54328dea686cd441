#include "cudart/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cudart/call.h"
#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/core/host_memory.h"
#include "drywell/core/sizes.h"
#include "drywell/sim/address_windows.h"

namespace drywell::cudart {
namespace {

// Addresses of pinned and managed memory: a range far from the kernel's own choices and from the simulated device's
// windows (sim/state/gmem.h), so that every run returns the same addresses.
constexpr uint64_t kHostBase = 0x1000'0000'0000, kHostEnd = 0x2000'0000'0000;
constexpr uint64_t kPage = 4096;
constexpr uint8_t kPoison = 0xFF;
constexpr uint64_t kByPage = 16 << 20;  // pinned memory from here on takes host memory by the page, where it is touched

void* map_pages(uint64_t bytes, const std::map<uint64_t, Allocation>& taken) {
  uint64_t at = kHostBase;
  for (const auto& [base, a] : taken) {
    if (base < kHostBase || base >= kHostEnd) continue;
    if (base - at >= bytes) break;
    at = round_up(base + a.bytes, kPage);
  }
  require(bytes < kHostEnd - at && bytes < host_memory().available / 8 * 7, CudaError::memory_allocation);
  void* p = ::mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  require(p != MAP_FAILED, CudaError::memory_allocation);
  return p;
}

void poison_pages(PoisonPages& pages, void* p, uint64_t bytes) {
  uint8_t *const first = static_cast<uint8_t*>(p), *const last = first + bytes;
  const auto [from, to] = bytes < kByPage ? std::pair(first, first) : pages.show(first, last);
  std::memset(first, kPoison, static_cast<size_t>(from - first));
  std::memset(to, kPoison, static_cast<size_t>(last - to));
}

/// Bytes from the first to the last of a copy.
uint64_t extent_of(const CopyPlace& p, const CopyShape& shape) {
  return size_sum(size_sum(size_product(shape.depth - 1, p.slice), size_product(shape.height - 1, p.pitch)), shape.width);
}

}  // namespace

Memory::Memory(sim::Device& device) : device_(device), most_(host_memory().available / 8 * 7) {
  if (host_memory().address_space != kBeyondCounting) return;  // addresses are few (ulimit -v)
  void* const wanted = reinterpret_cast<void*>(sim::window::kGlobalBase);
  void* const got = ::mmap(wanted, device.memory_capacity(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) window_ = got;
  else if (got != MAP_FAILED) ::munmap(got, device.memory_capacity());
}

Memory::~Memory() {
  release_all();
  if (window_ != nullptr) ::munmap(window_, device_.memory_capacity());
}

void Memory::release_all() {
  for (const auto& [base, a] : allocations_) {
    device_.free(GmemAddr(base));
    if (a.registered || a.mapped) continue;
    give_back(a.bytes);
    if (a.type != MemoryType::device) ::munmap(reinterpret_cast<void*>(base), round_up(a.bytes, kPage));
  }
  for (const auto& [base, a] : variables_) device_.free(GmemAddr(base));
  allocations_.clear();
  variables_.clear();
  device_order_.clear();
  pool_bytes_ = pool_high = 0;
  graphs = {};
  log_.clear();
}

void Memory::take(uint64_t bytes) {
  require(bytes <= left(), CudaError::memory_allocation);
  taken_ += bytes;
}

uint64_t Memory::place(uint64_t bytes, MemoryType type) {
  if (type == MemoryType::device) {
    device_order_.push_back(device_.allocate(bytes, fmt::format("allocation {} of the program", device_order_.size())).value());
    return device_order_.back();
  }
  void* const p = map_pages(round_up(bytes, kPage), allocations_);
  poison_pages(poison_, p, bytes);
  return device_.map_host(p, bytes, type == MemoryType::managed ? "managed memory" : "pinned memory").value();
}

void* Memory::allocate(uint64_t bytes, MemoryType type, unsigned flags) {
  if (bytes == 0) return nullptr;
  take(bytes);
  try {
    const uint64_t base = place(bytes, type);
    allocations_[base] = {base, bytes, type, flags};
    log_.add(base, bytes, type);
    return reinterpret_cast<void*>(base);
  } catch (...) {
    give_back(bytes);
    throw;
  }
}

void Memory::show_mapped(uint64_t base, uint64_t bytes) {
  device_.map_host(reinterpret_cast<void*>(base), bytes, "mapped memory");
  allocations_[base] = {.base = base, .bytes = bytes, .type = MemoryType::device, .mapped = true};
}

void Memory::hide_mapped(uint64_t base) {
  device_.free(GmemAddr(base));
  allocations_.erase(base);
}

std::vector<uint64_t> Memory::mapped_near(uint64_t begin, uint64_t end) const {
  std::vector<uint64_t> out;
  for (const auto& [base, a] : allocations_) {
    if (a.mapped && base <= end && base + a.bytes >= begin) out.push_back(base);
  }
  return out;
}

/// The program has memory in all pages of the range: a device refuses to pin others, and a kernel's access would end the process.
static bool is_mapped(const void* p, uint64_t bytes) {
  constexpr uint64_t kAtOnce = 4096;
  const uint64_t begin = reinterpret_cast<uintptr_t>(p) / kPage * kPage;
  const uint64_t length = size_sum(reinterpret_cast<uintptr_t>(p) - begin, bytes);
  if (length > ~begin) return false;
  unsigned char present[kAtOnce];
  for (uint64_t at = 0; at < length; at += kAtOnce * kPage) {
    const uint64_t some = std::min(length - at, kAtOnce * kPage);
    if (::mincore(reinterpret_cast<void*>(begin + at), some, present) != 0) return false;
  }
  return true;
}

void Memory::register_host(void* p, uint64_t bytes, unsigned flags) {
  require_value(p != nullptr && bytes != 0 && is_mapped(p, bytes));
  require(!find(p).has_value(), CudaError::host_memory_already_registered);
  const uint64_t base = device_.map_host(p, bytes, "registered host memory").value();
  allocations_[base] = {base, bytes, MemoryType::host, flags, true};
}

void Memory::show_variable(void* p, uint64_t bytes) {
  const auto base = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p));
  if (bytes == 0 || variables_.contains(base)) return;
  device_.map_host(p, bytes, "a managed variable");
  variables_[base] = {base, bytes, MemoryType::managed};
}

void Memory::hide_variable(void* p) {
  const auto it = variables_.find(reinterpret_cast<uintptr_t>(p));
  if (it == variables_.end()) return;
  device_.free(GmemAddr(it->first));
  variables_.erase(it);
}

void Memory::release(void* p, std::initializer_list<MemoryType> types) {
  if (p == nullptr) return;
  const auto it = allocations_.find(reinterpret_cast<uintptr_t>(p));
  require_value(it != allocations_.end() && std::find(types.begin(), types.end(), it->second.type) != types.end() && !it->second.registered && !it->second.mapped);
  if (it->second.of_graph) return end_for_graph(p);
  device_.free(GmemAddr(it->first));
  if (it->second.pooled) pool_bytes_ -= it->second.bytes;
  log_.free(it->first);
  give_back(it->second.bytes);
  if (it->second.type != MemoryType::device) ::munmap(p, round_up(it->second.bytes, kPage));
  allocations_.erase(it);
}

void Memory::count_in_pool(void* p) {
  const auto it = allocations_.find(reinterpret_cast<uintptr_t>(p));
  if (it == allocations_.end()) return;  // no bytes
  it->second.pooled = true;
  pool_bytes_ += it->second.bytes;
  pool_high = std::max(pool_high, pool_bytes_);
}

void Memory::keep_for_graph(void* p) {
  const auto it = allocations_.find(reinterpret_cast<uintptr_t>(p));
  require_value(it != allocations_.end());
  it->second.of_graph = true;
}

void Memory::begin_for_graph(void* p) {
  const auto a = find(p);
  require_value(a.has_value());
  graphs.begin(a->base, a->bytes);
  poison(p, a->bytes);
}

void Memory::end_for_graph(void* p) {
  const auto a = find(p);
  require_value(a.has_value());
  graphs.end(a->base);
  poison(p, a->bytes);
}

void Memory::unregister_host(void* p) {
  const auto it = allocations_.find(reinterpret_cast<uintptr_t>(p));
  require(it != allocations_.end() && it->second.registered, CudaError::host_memory_not_registered);
  device_.free(GmemAddr(it->first));
  allocations_.erase(it);
}

std::optional<Allocation> Memory::find(const void* p) const {
  const uint64_t at = reinterpret_cast<uintptr_t>(p);
  for (const auto* all : {&allocations_, &variables_}) {
    const auto it = all->upper_bound(at);
    if (it == all->begin()) continue;
    if (const Allocation& a = std::prev(it)->second; at - a.base < a.bytes) return a;
  }
  return std::nullopt;
}

std::optional<Allocation> Memory::device_allocation(uint64_t index) const {
  if (index >= device_order_.size()) return std::nullopt;
  return find(reinterpret_cast<const void*>(device_order_[index]));
}

void Memory::find_writers(const std::string& who) {
  log_.find_writers(who, [&](uint64_t base, uint64_t bytes) {
    const uint8_t* const p = readable(reinterpret_cast<const void*>(base), bytes, true);
    return std::any_of(p, p + bytes, [](uint8_t b) { return b != kPoison; });
  });
}

uint64_t Memory::digest() const {
  // Multiplication and rotation of 64-bit words: fast, and any changed byte changes the result. It is not a cryptographic
  // hash.
  constexpr uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  uint64_t hash = kOdd;
  const auto mix = [&](uint64_t word) { hash = std::rotl((hash ^ word) * kOdd, 29); };
  for (const auto& [base, a] : allocations_) {
    const uint8_t* const bytes = readable(reinterpret_cast<const void*>(base), a.bytes, true);
    mix(a.bytes);
    uint64_t i = 0, word = 0;
    for (; i + sizeof word <= a.bytes; i += sizeof word) {
      std::memcpy(&word, bytes + i, sizeof word);
      mix(word);
    }
    word = 0;
    std::memcpy(&word, bytes + i, a.bytes - i);
    mix(word);
  }
  return hash;
}

const uint8_t* Memory::readable(const void* p, uint64_t bytes, bool must_be_device) const {
  const auto range = device_.find(GmemAddr(reinterpret_cast<uintptr_t>(p)));
  if (!range.has_value()) return resolve(p, bytes, must_be_device);
  const uint64_t offset = reinterpret_cast<uintptr_t>(p) - range->base.value();
  if (bytes > range->bytes - offset) return resolve(p, bytes, must_be_device);  // throws
  return range->host + offset;
}

uint8_t* Memory::resolve(const void* p, uint64_t bytes, bool must_be_device) const {
  const GmemAddr at(reinterpret_cast<uintptr_t>(p));
  if (device_.find(at).has_value()) return device_.host_pointer(at, bytes);
  const bool in_window = window_ != nullptr && at.value() >= sim::window::kGlobalBase && at.value() - sim::window::kGlobalBase < device_.memory_capacity();
  if (must_be_device || in_window) throw InputError(Code::E4103, fmt::format("{:#x} is not device memory", at.value()));
  require_value(p != nullptr);
  return static_cast<uint8_t*>(const_cast<void*>(p));
}

void Memory::copy(void* to, const void* from, uint64_t bytes, CopyKind kind) { copy({to, bytes, 0}, {from, bytes, 0}, {bytes, 1, 1}, kind); }

void Memory::copy(CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind) {
  require(kind >= CopyKind::host_to_host && kind <= CopyKind::inferred, CudaError::invalid_memcpy_direction);
  if (shape.width == 0 || shape.height == 0 || shape.depth == 0) return;
  require(shape.height == 1 || (to.pitch >= shape.width && from.pitch >= shape.width), CudaError::invalid_pitch);
  const bool to_device = kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
  const bool from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
  uint8_t* const d = resolve(to.at, extent_of(to, shape), to_device);
  const uint8_t* const s = readable(from.at, extent_of(from, shape), from_device);
  for (uint64_t z = 0; z < shape.depth; ++z) {
    for (uint64_t y = 0; y < shape.height; ++y) std::memmove(d + z * to.slice + y * to.pitch, s + z * from.slice + y * from.pitch, shape.width);
  }
}

bool Memory::show_poison(uint8_t* p, uint64_t bytes) { return poison_.show(p, p + bytes) == std::pair(p, p + bytes); }

void Memory::poison(void* p, uint64_t bytes) {
  const GmemAddr at(reinterpret_cast<uintptr_t>(p));
  if (device_.find(at).has_value()) device_.poison(at, bytes);
}

void Memory::set(CopyPlace to, uint32_t value, unsigned element, CopyShape shape) {
  require_value(element == 1 || element == 2 || element == 4);
  if (shape.width == 0 || shape.height == 0 || shape.depth == 0) return;
  require_value(shape.height == 1 || to.pitch >= shape.width);
  uint8_t* const d = resolve(to.at, extent_of(to, shape), true);
  for (uint64_t z = 0; z < shape.depth; ++z) {
    for (uint64_t y = 0; y < shape.height; ++y) {
      uint8_t* row = d + z * to.slice + y * to.pitch;
      if (element == 1) std::memset(row, static_cast<int>(value), shape.width);
      else
        for (uint64_t x = 0; x + element <= shape.width; x += element) std::memcpy(row + x, &value, element);
    }
  }
}

}  // namespace drywell::cudart
