// The program's allocations in order, for `--corrupt=list` and `--leaks`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cudart/abi.h"

namespace drywell::cudart {

class AllocationLog {
 public:
  void add(uint64_t base, uint64_t bytes, MemoryType type);
  void free(uint64_t base);
  void clear() { entries_.clear(); }

  /// Names `who` as the first writer of the allocations that are not written yet and for which `written(base, bytes)` is true.
  void find_writers(const std::string& who, const std::function<bool(uint64_t base, uint64_t bytes)>& written);
  /// A line per device allocation: the number that --corrupt takes, bytes, first writer.
  std::string list() const;
  /// A line per allocation that is not freed; empty if there is none.
  std::string leaks() const;

 private:
  struct Entry {
    uint64_t base = 0, bytes = 0;
    MemoryType type = MemoryType::device;
    bool freed = false;
    size_t number = 0;  // among those of the device
    std::string writer;
  };
  std::vector<Entry> entries_;
  size_t on_device_ = 0;
};

}  // namespace drywell::cudart
