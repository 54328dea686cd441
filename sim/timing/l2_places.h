// Places for lines in one half of the L2. A new line takes the place of the one that has been there longest: a table that is read from its
// start to its end again is there whole, or, if it is a little larger than the L2, not at all (l2cap.toml of
// traces/hw/h200-2026-11-27-launch-mechanisms.csv: 40 MiB are there, 48 MiB are not).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/state/state_vector.h"

namespace drywell::sim {

class L2Places {
 public:
  explicit L2Places(size_t places, StateMemory* memory = nullptr) : lines_(memory) { lines_.resize(places); }

  /// Takes a place for `line`. Returns the line that leaves; none while places are free.
  std::optional<uint32_t> take(uint32_t line) {
    if (used_ < lines_.size()) {
      lines_[used_++] = line;
      return std::nullopt;
    }
    uint32_t& place = lines_[oldest_];
    oldest_ = (oldest_ + 1) % lines_.size();
    const uint32_t leaves = place;
    place = line;
    return leaves;
  }
  size_t size() const { return lines_.size(); }
  /// The lines, the oldest first.
  std::vector<uint32_t> lines() const {
    std::vector<uint32_t> all;
    for (size_t i = 0; i < used_; ++i) all.push_back(lines_[(oldest_ + i) % used_]);
    return all;
  }

 private:
  StateVector<uint32_t> lines_;
  size_t used_ = 0, oldest_ = 0;
};

}  // namespace drywell::sim
