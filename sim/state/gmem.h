// Simulated global memory: allocations with exact bounds in one reserved address range.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "drywell/core/poison_pages.h"
#include "drywell/core/types.h"
#include "drywell/sim/address_windows.h"
#include "sim/state/written_ranges.h"

namespace drywell::sim {

class Gmem {
 public:
  struct Allocation {
    uint64_t base = 0;
    uint64_t size = 0;
    uint8_t* data = nullptr;
    std::string name;
    bool borrowed = false;    // memory that the caller owns (map_host)
    WrittenRanges written{};  // by the host or a kernel, or perhaps
    uint64_t space_end = 0;   // of the addresses that it takes, with the red zone behind it
    uint64_t made_after = 0;  // number of launches before it was allocated
    bool untouched = false;   // part of it is poison by the page, and no launch has begun since
  };

  /// Reserves (without committing) host address space for `capacity` bytes, or for `host_bytes` if those are fewer.
  explicit Gmem(uint64_t capacity, uint64_t host_bytes = ~uint64_t{0});
  ~Gmem();
  Gmem(const Gmem&) = delete;
  Gmem& operator=(const Gmem&) = delete;

  /// Throws InputError E4100 when the capacity is exhausted, E4105 when the host's part is. New memory is filled with 0xFF bytes (NaN in every
  /// float format), so that results of a kernel that did not run never compare equal. What is behind the first 256 MiB takes host memory
  /// only where it is touched.
  GmemAddr allocate(uint64_t bytes, std::string name = {}, uint64_t align = 256);
  /// Maps host memory of this process as device memory at its own address, like pinned and managed memory; the caller keeps
  /// it alive until release. Throws InputError E4104 if it overlaps a window or an allocation.
  GmemAddr map_host(void* host, uint64_t bytes, std::string name = {});
  /// Returns false if `addr` is not the base of a live allocation. The addresses are not used again soon, so that a use after free is
  /// one.
  bool release(GmemAddr addr);
  /// Memory of `malloc` in a kernel; 0 if the heap has no room for it.
  uint64_t heap_allocate(uint64_t bytes, uint64_t align);
  /// False if heap_allocate() did not return `addr`, or it was released.
  bool heap_release(uint64_t addr);
  void set_heap_limit(uint64_t bytes) { heap_limit_ = bytes; }
  /// No allocation may come or go from now on: a debugger keeps images of memory.
  void freeze_heap(bool frozen) { heap_frozen_ = frozen; }
  bool heap_frozen() const { return heap_frozen_; }
  /// What kernels have not freed.
  struct Heap {
    uint64_t allocations = 0, bytes = 0;
  };
  Heap heap() const { return {heap_.size(), heap_bytes_}; }
  void free_heap();
  /// Fills an allocation with zeros; a large one takes host memory only where it is written afterwards.
  void clear(GmemAddr addr);
  /// The caller will write all of these bytes of one allocation.
  void will_overwrite(uint64_t addr, uint64_t bytes);

  const Allocation* find(uint64_t addr) const;
  /// Records a write of the host, or of a kernel, inside one allocation.
  void note_write(uint64_t addr, uint64_t bytes);
  /// Poisons memory of one allocation; all of an allocation then counts as new.
  void forget(uint64_t addr, uint64_t bytes);
  /// A kernel is about to run. What it writes is not known unless writes_are_known() is called before the next one.
  void begin_launch();
  /// note_write was called for everything that the launch wrote.
  void writes_are_known() { writes_known_ = true; }
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
  /// "; the allocation below is 'x' at 0x… with 64 bytes, which ends 4 bytes before", or which freed allocation `addr` was in; empty
  /// without either.
  std::string neighbourhood(uint64_t addr) const;
  /// The allocation with the greatest base not above `addr`, for messages; nullptr if none.
  const Allocation* nearest_below(uint64_t addr) const;
  uint64_t used() const { return used_; }
  uint64_t capacity() const { return capacity_; }
  /// Bytes that the host has reserved; not above the capacity.
  uint64_t reserved() const { return reserved_; }
  uint64_t free_bytes() const { return reserved_ > used_ ? reserved_ - used_ : 0; }
  /// In the order of addresses.
  std::vector<const Allocation*> allocations() const;

 private:
  using Gaps = std::map<uint64_t, uint64_t>;  // begin → end, neither empty nor adjacent
  /// An allocation that was freed. Its addresses are no gap while `held`.
  struct Freed {
    uint64_t base = 0, size = 0, space_end = 0, made_after = 0, freed_after = 0;
    std::string name;
  };
  Gaps::iterator smallest_gap(uint64_t bytes, uint64_t align);
  void insert_gap(uint64_t begin, uint64_t end);
  void erase_gap(Gaps::iterator gap);
  /// Returns the end of the addresses taken.
  uint64_t take_from(Gaps::iterator gap, uint64_t at, uint64_t bytes);
  void poison(Allocation& a);
  void hold(const Allocation& a);
  void let_go();
  void add_gap(uint64_t begin, uint64_t end);
  [[noreturn]] void refuse(uint64_t bytes) const;
  uint8_t* host_at(uint64_t address) const { return base_ + (address - window::kGlobalBase); }

  uint64_t capacity_, reserved_;
  uint64_t used_ = 0;
  uint64_t launches_ = 0;  // number of kernel launches with this memory so far
  bool writes_known_ = true;
  Gaps gaps_;
  std::set<std::pair<uint64_t, uint64_t>> gaps_by_size_;  // size, begin
  std::deque<Freed> freed_;                               // the latest last; of the last `held_` ones the addresses are held back
  size_t held_ = 0;
  uint64_t held_bytes_ = 0;
  PoisonPages poison_;
  uint8_t* base_ = nullptr;
  std::map<uint64_t, std::unique_ptr<Allocation>> by_base_;         // allocations do not move while hints may point to them
  std::vector<std::unique_ptr<Allocation>> ended_;                  // released, of no bytes: hints of a launch may point to them
  std::set<uint64_t> heap_;                                         // bases
  uint64_t heap_bytes_ = 0, heap_limit_ = 8 << 20, heap_made_ = 0;  // a device's default (cudaLimitMallocHeapSize)
  bool heap_frozen_ = false;
};

}  // namespace drywell::sim
