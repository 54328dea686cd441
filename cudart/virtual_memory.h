// Physical memory that a program maps into addresses that it reserved (cuMemCreate, cuMemMap). Pieces that lie side by side are one
// allocation of the device, because the program uses them as one: PyTorch's expandable segments hold tensors across pieces.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "cudart/physical_memory.h"

namespace drywell::cudart {

class VirtualMemory {
 public:
  static constexpr uint64_t kGranularity = 2 << 20;  // bytes, of devices of compute capability 9.0 and 10.0

  VirtualMemory(sim::Device& device, Memory& memory) : device_(device), memory_(memory) {}
  ~VirtualMemory();
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  /// Forgets everything (cudaDeviceReset).
  void clear();
  // All throw CallFailed for addresses and sizes that do not fit.
  uint64_t reserve(uint64_t bytes, uint64_t alignment);
  void give_back(uint64_t base, uint64_t bytes);
  /// Returns a handle to poisoned memory. Throws CallFailed if the device has no more.
  uint64_t create(uint64_t bytes);
  void retain(uint64_t handle);
  /// The memory stays while it is mapped.
  void release(uint64_t handle);
  void map(uint64_t at, uint64_t bytes, uint64_t offset, uint64_t handle);
  void unmap(uint64_t at, uint64_t bytes);
  /// Kernels may access a mapped range from now on, or no more.
  void set_access(uint64_t at, uint64_t bytes, bool allowed);
  bool accessible(uint64_t at) const;
  uint64_t handle_at(uint64_t at) const;
  uint64_t bytes_of(uint64_t handle) const;
  /// Bytes of physical memory.
  uint64_t created() const { return *created_; }

 private:
  struct Mapping {
    uint64_t bytes = 0, handle = 0;
    std::shared_ptr<PhysicalMemory> memory;
    bool accessible = false;
  };
  using Mappings = std::map<uint64_t, Mapping>;
  struct Handle {
    std::shared_ptr<PhysicalMemory> memory;
    unsigned count = 1;
  };
  /// Makes an allocation of each run of accessible mappings that is none.
  void show();
  /// Takes back the allocations that overlap or touch a range.
  void hide(uint64_t begin, uint64_t end);
  template <class F>
  void for_range(uint64_t at, uint64_t bytes, F&& f);

  sim::Device& device_;
  Memory& memory_;
  std::map<uint64_t, uint64_t> reserved_;  // begin → bytes
  std::map<uint64_t, Handle> handles_;
  Mappings mappings_;
  uint64_t next_handle_ = 1;
  std::shared_ptr<uint64_t> created_ = std::make_shared<uint64_t>(0);  // bytes of physical memory
};

}  // namespace drywell::cudart
