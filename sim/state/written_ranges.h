// Which bytes of an allocation something has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace drywell::sim {

class WrittenRanges {
 public:
  /// All of it counts as written.
  void add_all() {
    all_ = true;
    parts_.clear();
  }
  void add(uint64_t begin, uint64_t end);
  /// True if something has written a byte of [begin, end), or may have.
  bool touches(uint64_t begin, uint64_t end) const;
  bool empty() const { return !all_ && parts_.empty(); }

 private:
  static constexpr size_t kMostParts = 4096;  // a pattern with more counts as everything
  std::map<uint64_t, uint64_t> parts_;        // begin to end, neither empty nor adjacent
  bool all_ = false;
};

}  // namespace drywell::sim
