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
  explicit L2Places(size_t places, StateMemory* memory = nullptr) : lines_(memory), places_(places) { lines_.reserve(places); }

  /// Takes a place for `line`. Returns the line that leaves; none while places are free.
  std::optional<uint32_t> take(uint32_t line) {
    if (lines_.size() < places_) {
      lines_.push_back(line);
      return std::nullopt;
    }
    uint32_t& place = lines_[oldest_];
    oldest_ = (oldest_ + 1) % places_;
    const uint32_t leaves = place;
    place = line;
    return leaves;
  }
  size_t size() const { return places_; }
  /// The lines, the oldest first.
  std::vector<uint32_t> lines() const {
    std::vector<uint32_t> all;
    for (size_t i = 0; i < lines_.size(); ++i) all.push_back(lines_[(oldest_ + i) % lines_.size()]);
    return all;
  }

 private:
  StateVector<uint32_t> lines_;
  size_t places_, oldest_ = 0;
};

}  // namespace drywell::sim
