// Simulated global memory: allocations with exact bounds in one reserved address range.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/sim/address_windows.h"

namespace drywell::sim {

class Gmem {
 public:
  struct Allocation {
    uint64_t base = 0;
    uint64_t size = 0;
    uint8_t* data = nullptr;
    std::string name;
    bool borrowed = false;  // memory that the caller owns (map_host)
    bool host_wrote = false;  // the host wrote into it, or may have
  };

  /// Reserves (without committing) `capacity` bytes of host address space.
  explicit Gmem(uint64_t capacity);
  ~Gmem();
  Gmem(const Gmem&) = delete;
  Gmem& operator=(const Gmem&) = delete;

  /// Throws InputError E4100 when the capacity is exhausted. New memory is filled with 0xFF bytes (NaN in every
  /// float format), so that results of a kernel that did not run never compare equal.
  GmemAddr allocate(uint64_t bytes, std::string name = {}, uint64_t align = 256);
  /// Maps host memory of this process as device memory at its own address, like pinned and managed memory; the caller keeps
  /// it alive until release. Throws InputError E4104 if it overlaps a window or an allocation.
  GmemAddr map_host(void* host, uint64_t bytes, std::string name = {});
  /// Returns false if `addr` is not the base of a live allocation.
  bool release(GmemAddr addr);
  /// Fills an allocation with zeros; a large one takes host memory only where it is written afterwards.
  void clear(GmemAddr addr);

  const Allocation* find(uint64_t addr) const;
  /// Records a host write into the allocation that contains `addr`.
  void note_host_write(uint64_t addr);
  uint64_t launches = 0;  // number of kernel launches with this memory so far
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
  /// The allocation with the greatest base not above `addr`, for messages; nullptr if none.
  const Allocation* nearest_below(uint64_t addr) const;
  uint64_t used() const { return used_; }
  uint64_t capacity() const { return capacity_; }
  const std::vector<Allocation*>& allocations() const { return by_base_; }

 private:
  using Gaps = std::map<uint64_t, uint64_t>;  // begin → end, neither empty nor adjacent
  Gaps::iterator first_gap(uint64_t bytes, uint64_t align);
  void take_from(Gaps::iterator gap, uint64_t at, uint64_t bytes);
  void add_gap(uint64_t begin, uint64_t end);
  uint8_t* host_at(uint64_t address) const { return base_ + (address - window::kGlobalBase); }

  uint64_t capacity_;
  uint64_t used_ = 0;
  Gaps gaps_;
  int poison_ = -1;  // a file of poison that large allocations show until they are written; made on first use
  uint8_t* base_ = nullptr;
  std::vector<Allocation*> by_base_;  // sorted; entries do not move while hints may point to them
};

}  // namespace drywell::sim
