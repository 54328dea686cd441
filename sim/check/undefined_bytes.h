// Bytes of a CTA's shared memory in which threads stored values that nothing has made: an exchange of a partial tile takes such values along.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace drywell::sim::check {

class UndefinedBytes {
 public:
  explicit UndefinedBytes(size_t bytes) : bytes_(bytes) {}
  /// `origin`, not 0, says where the value came from.
  void put(size_t at, size_t bytes, uint16_t origin) {
    if (origins_.empty()) origins_.resize(bytes_);
    const size_t end = std::min(at + bytes, bytes_);
    for (size_t i = at; i < end; ++i) {
      count_ += origins_[i] == 0 ? 1 : 0;
      origins_[i] = origin;
    }
  }
  /// Something is written there.
  void clear(size_t at, size_t bytes) {
    if (count_ == 0) return;
    const size_t end = std::min(at + bytes, bytes_);
    for (size_t i = at; i < end; ++i) {
      count_ -= origins_[i] != 0 ? 1 : 0;
      origins_[i] = 0;
    }
  }
  bool any() const { return count_ != 0; }
  /// 0: the byte has a value, or nothing was stored there.
  uint16_t at(size_t i) const { return i < origins_.size() ? origins_[i] : uint16_t{0}; }

 private:
  size_t bytes_, count_ = 0;
  std::vector<uint16_t> origins_;  // by byte; empty: none yet
};

}  // namespace drywell::sim::check
