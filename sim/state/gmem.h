// Simulated global memory: allocations with exact bounds in one reserved address range.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim {

/// Address windows of the generic space (one 64-bit value tells the state space). Not architectural: real windows are
/// chosen by the driver; these lie below the range real devices hand out so that a mixed-up address shows.
namespace window {
inline constexpr uint64_t kSharedHigh = 0x7EFF;  // high 32 bits of a generic address of shared memory
inline constexpr uint64_t kLocalHigh = 0x7EFE;
inline constexpr uint64_t kParamHigh = 0x7EFD;
inline constexpr uint64_t kCodeHigh = 0x7EFC;    // addresses of functions
inline constexpr uint64_t kGlobalBase = 0x7F00'0000'0000;
constexpr uint64_t generic(uint64_t high, uint64_t low) { return (high << 32) | low; }
/// Address of function `index` of a module, as a pointer to it holds.
constexpr uint64_t function_address(uint32_t index) { return generic(kCodeHigh, (uint64_t{index} + 1) * 16); }
}  // namespace window

class Gmem {
 public:
  struct Allocation {
    uint64_t base = 0;
    uint64_t size = 0;
    uint8_t* data = nullptr;
    std::string name;
    bool borrowed = false;  // somebody else's memory (map_host)
    bool host_wrote = false;  // the host put something into it, or may have
  };

  /// Reserves (without committing) `capacity` bytes of host address space.
  explicit Gmem(uint64_t capacity);
  ~Gmem();
  Gmem(const Gmem&) = delete;
  Gmem& operator=(const Gmem&) = delete;

  /// Throws InputError E4100 when the capacity is exhausted. New memory is poisoned with 0xFF bytes (NaN in every
  /// float format), so that "nothing ran" never looks like "passed".
  GmemAddr allocate(uint64_t bytes, std::string name = {}, uint64_t align = 256);
  /// Makes memory of this process device memory under its own address, as pinned and managed memory is; the caller keeps
  /// it alive until release. Throws InputError E4104 if it overlaps a window or an allocation.
  GmemAddr map_host(void* host, uint64_t bytes, std::string name = {});
  /// Returns false if `addr` is not the base of a live allocation.
  bool release(GmemAddr addr);

  const Allocation* find(uint64_t addr) const;
  /// The host writes into the allocation `addr` lies in.
  void note_host_write(uint64_t addr);
  uint64_t launches = 0;  // of kernels with this memory, so far
  /// Host pointer to [addr, addr + bytes) if it lies inside one allocation, else nullptr. `hint` caches the last hit.
  uint8_t* translate(uint64_t addr, uint64_t bytes, const Allocation*& hint) const {
    const Allocation* a = hint;
    if (a == nullptr || addr < a->base || addr - a->base >= a->size) {
      a = find(addr);
      if (a == nullptr) return nullptr;
      hint = a;
    }
    return bytes <= a->size - (addr - a->base) ? a->data + (addr - a->base) : nullptr;
  }
  uint8_t* translate(uint64_t addr, uint64_t bytes) const {
    const Allocation* hint = nullptr;
    return translate(addr, bytes, hint);
  }
  /// The allocation nearest below `addr`, for messages; nullptr if none.
  const Allocation* nearest_below(uint64_t addr) const;
  uint64_t used() const { return used_; }
  uint64_t capacity() const { return capacity_; }
  const std::vector<Allocation*>& allocations() const { return by_base_; }

 private:
  uint64_t capacity_;
  uint64_t used_ = 0;
  uint8_t* base_ = nullptr;
  std::vector<Allocation*> by_base_;  // sorted; entries stay put while hints may point at them
};

}  // namespace drywell::sim
