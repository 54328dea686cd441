// The L2 between two launches: the lines that are in it, with the sectors present and written.
// A device owns one; copies and timed launches change it, and a launch with Caches::carry starts from it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "drywell/sim/access.h"

namespace drywell::sim {

class L2Contents {
 public:
  struct Line {
    uint64_t address = 0;  // of its first byte
    uint8_t sectors = 0;   // bits 0..3 present, 4..7 written
    uint8_t copied = 0;    // bits 0..3 present in the half where the line is not at home, 4 they have a place there, 5 a store left them
  };
  explicit L2Contents(uint64_t capacity) : capacity_(capacity) {}

  /// Host code wrote memory: a copy or a memset leaves its last bytes in the L2, written.
  void host_wrote(uint64_t address, uint64_t bytes);
  /// A launch left these lines; host writes before it are among them or displaced by them.
  void leave(std::vector<Line> lines);

  const std::vector<Line>& lines() const { return lines_; }
  const std::deque<ByteRange>& host_writes() const { return writes_; }

 private:
  uint64_t capacity_;  // bytes
  std::vector<Line> lines_;
  std::deque<ByteRange> writes_;  // since the last launch, at most capacity_ bytes
  uint64_t written_ = 0;
};

}  // namespace drywell::sim
