// The program's memory: device allocations, pinned and managed memory (memory of this process that the device sees under
// the same address), and copies between all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cudart/abi.h"
#include "drywell/sim/device.h"

namespace drywell::cudart {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  MemoryType type = MemoryType::device;
  unsigned flags = 0;
  bool registered = false;  // the program's own memory (cudaHostRegister)
};

/// What one side of a copy is.
struct CopyShape {
  uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};
struct CopyPlace {
  const void* at = nullptr;
  uint64_t pitch = 0, slice = 0;  // bytes from row to row, from slice to slice
};

class Memory {
 public:
  explicit Memory(sim::Device& device);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// nullptr for no bytes. Device memory is poisoned with 0xFF, as is pinned and managed memory.
  void* allocate(uint64_t bytes, MemoryType type, unsigned flags = 0);
  void register_host(void* p, uint64_t bytes, unsigned flags);
  /// Throws CallFailed unless `p` begins an allocation of one of `types`.
  void release(void* p, std::initializer_list<MemoryType> types);
  void unregister_host(void* p);
  void release_all();
  /// The allocation `p` lies in.
  std::optional<Allocation> find(const void* p) const;
  /// The `index`-th device allocation the program made, if it still lives.
  std::optional<Allocation> device_allocation(uint64_t index) const;
  /// A number that is the same for the same bytes in all of the program's allocations, wherever they lie.
  uint64_t digest() const;

  void copy(void* to, const void* from, uint64_t bytes, CopyKind kind);
  void copy(CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind);
  void poison(void* p, uint64_t bytes);
  /// Repeats the `element` bytes of `value`.
  void set(CopyPlace to, uint32_t value, unsigned element, CopyShape shape);

 private:
  uint8_t* resolve(const void* p, uint64_t bytes, bool must_be_device) const;

  sim::Device& device_;
  void* window_ = nullptr;  // the device's addresses, kept free of host memory: a device pointer is never a host pointer
  std::map<uint64_t, Allocation> allocations_;
  std::vector<uint64_t> device_order_;  // bases in the order the program asked for them
};

}  // namespace drywell::cudart
