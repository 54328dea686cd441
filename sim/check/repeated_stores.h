// What stores that left global memory as it was have stored: whether a store of another cluster in the same places has left it so, too, is seen
// when both clusters have ended.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/state/gmem.h"

namespace drywell::sim::check {

class RepeatedStores {
 public:
  struct Run {
    uint64_t begin = 0;
    std::vector<uint8_t> bytes;
  };
  using Runs = std::vector<Run>;

  /// Its number; 0, for a store that nobody asks about, beyond kMostBytes.
  uint32_t add(const Runs& runs) {
    for (const Run& r : runs) bytes_ += r.bytes.size();
    if (runs.empty() || bytes_ > kMostBytes) return 0;
    all_.push_back(runs);
    return static_cast<uint32_t>(all_.size() - 1);
  }
  /// The store has another round; returns its number.
  uint32_t extend(uint32_t number, const Runs& runs) {
    for (const Run& r : runs) bytes_ += r.bytes.size();
    if (number == 0 || bytes_ > kMostBytes) return 0;
    all_[number].insert(all_[number].end(), runs.begin(), runs.end());
    return number;
  }
  const Runs& operator[](uint32_t number) const { return all_[number]; }
  /// The memory has what it stored.
  bool stay(uint32_t number, const Gmem& memory) const {
    for (const Run& r : all_[number]) {
      const uint8_t* const now = memory.translate(r.begin, r.bytes.size());
      if (now == nullptr || std::memcmp(now, r.bytes.data(), r.bytes.size()) != 0) return false;
    }
    return number != 0;
  }
  void clear() { *this = {}; }

 private:
  static constexpr size_t kMostBytes = 16 << 20;

  std::vector<Runs> all_{1};  // [0]: none
  size_t bytes_ = 0;
};

}  // namespace drywell::sim::check
