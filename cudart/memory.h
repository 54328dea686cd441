// The program's memory: device allocations, pinned and managed memory (memory of this process that the device accesses
// at the same address), and copies between all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cudart/abi.h"
#include "cudart/allocation_log.h"
#include "cudart/graph_memory.h"
#include "drywell/core/poison_pages.h"
#include "drywell/sim/device.h"

namespace drywell::cudart {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  MemoryType type = MemoryType::device;
  unsigned flags = 0;
  bool registered = false;        // the program's own memory (cudaHostRegister)
  bool of_graph = false;          // a graph uses the address: it stays allocated when the program frees it
  bool pooled = false;            // allocated in a stream's order
  bool mapped = false;            // physical memory that the program mapped (cuMemMap)
  const void* context = nullptr;  // that was current to the thread (GuestContext)
};

/// Extent of a copy.
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

  /// Returns nullptr for no bytes. Poisons device, pinned and managed memory with 0xFF.
  void* allocate(uint64_t bytes, MemoryType type, unsigned flags = 0);
  /// Counts bytes of memory that the host must be able to back, whenever they are touched. Throws CallFailed if it cannot.
  void take(uint64_t bytes);
  void give_back(uint64_t bytes) { taken_ -= bytes; }
  /// Bytes that can still be taken.
  uint64_t left() const { return most_ - taken_; }
  void register_host(void* p, uint64_t bytes, unsigned flags);
  /// Throws CallFailed unless `p` begins an allocation of one of `types`.
  void release(void* p, std::initializer_list<MemoryType> types);
  void unregister_host(void* p);
  /// A __managed__ variable, whose bytes the host has at `p`, is device memory at that address, too.
  void show_variable(void* p, uint64_t bytes);
  void hide_variable(void* p);
  /// The address is a graph's from now on: freeing only poisons it.
  void keep_for_graph(void* p);
  void belongs_to(void* p, const void* context) { allocations_.at(reinterpret_cast<uint64_t>(p)).context = context; }
  /// The graph's allocation runs, and is freed by a node or by the program.
  void begin_for_graph(void* p);
  void end_for_graph(void* p);
  GraphMemory graphs;
  void release_all();
  /// Physical memory that is mapped at its own address (virtual_memory.h) becomes device memory, and ceases to be.
  void show_mapped(uint64_t base, uint64_t bytes);
  void hide_mapped(uint64_t base);
  /// The bases of such memory that overlaps or touches [begin, end).
  std::vector<uint64_t> mapped_near(uint64_t begin, uint64_t end) const;
  /// The allocation counts for the pools until it is freed.
  void count_in_pool(void* p);
  uint64_t pool_bytes() const { return pool_bytes_; }
  uint64_t pool_high = 0;  // the most so far; the program may set it to 0
  /// Returns the allocation that contains `p`.
  std::optional<Allocation> find(const void* p) const;
  /// Returns the `index`-th device allocation of the program, if it is not freed.
  std::optional<Allocation> device_allocation(uint64_t index) const;
  /// Returns a digest of the bytes of all of the program's allocations, independent of their addresses.
  uint64_t digest() const;

  const AllocationLog& log() const { return log_; }
  /// Names `who` as the first writer of what is no longer as it was allocated.
  void find_writers(const std::string& who);

  void copy(void* to, const void* from, uint64_t bytes, CopyKind kind);
  void copy(CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind);
  void poison(void* p, uint64_t bytes);
  /// Puts poison that the host backs by the page at reserved addresses. False if the host refuses.
  bool show_poison(uint8_t* p, uint64_t bytes);
  /// Fills with the low `element` bytes of `value`, repeated.
  void set(CopyPlace to, uint32_t value, unsigned element, CopyShape shape);

 private:
  uint64_t place(uint64_t bytes, MemoryType type);
  uint8_t* resolve(const void* p, uint64_t bytes, bool must_be_device) const;
  /// The same for reading: memory that is only read does not count as written by the host.
  const uint8_t* readable(const void* p, uint64_t bytes, bool must_be_device) const;

  sim::Device& device_;
  uint64_t most_, taken_ = 0;  // bytes of host memory for all that the program allocates
  PoisonPages poison_;
  void* window_ = nullptr;  // the device's address range, kept free of host memory: a device pointer is never a host
                            // pointer
  std::map<uint64_t, Allocation> allocations_, variables_;
  uint64_t pool_bytes_ = 0;
  AllocationLog log_;
  std::vector<uint64_t> device_order_;  // base addresses in order of allocation
};

}  // namespace drywell::cudart
