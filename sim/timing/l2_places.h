// Places for lines in one half of the L2. A new line takes the place of one chosen at random: a table that is a little larger than the L2
// is missed in part, not whole (rows-1024x8192 of traces/hw/h200-2026-11-26-launch-mechanisms.csv).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/state/state_vector.h"
#include "sim/timing/scattered.h"

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
    uint32_t& place = lines_[scattered(++replaced_) % lines_.size()];
    const uint32_t leaves = place;
    place = line;
    return leaves;
  }
  size_t size() const { return lines_.size(); }
  std::span<const uint32_t> lines() const { return {lines_.data(), used_}; }

 private:
  StateVector<uint32_t> lines_;
  size_t used_ = 0;
  uint64_t replaced_ = 0;
};

}  // namespace drywell::sim
