// The memory of graphs, as cudaDeviceGetGraphMemAttribute counts it: which allocations of graphs are in use, and how much a device
// keeps for them. NVIDIA's sample graphMemoryFootprint reads the "used" memory, and it stays after the graph has freed it: what is used and what
// is reserved are one number here.
#pragma once

#include <cstdint>
#include <map>

namespace drywell::cudart {

class GraphMemory {
 public:
  /// A graph's allocation runs; its memory is in use until end().
  void begin(uint64_t base, uint64_t bytes);
  void end(uint64_t base);
  bool in_use(uint64_t base) const { return in_use_.contains(base); }
  /// A device gives back what is not in use.
  void trim();
  /// Value of a cudaGraphMemAttributeType. Throws CallFailed for an unknown number.
  uint64_t value(int attribute) const;
  /// The high marks begin anew. Throws CallFailed for an attribute that is none.
  void reset(int attribute);

 private:
  std::map<uint64_t, uint64_t> in_use_;  // bytes by address
  uint64_t using_ = 0, kept_ = 0;        // bytes
  uint64_t most_used_ = 0, most_reserved_ = 0;
};

}  // namespace drywell::cudart
