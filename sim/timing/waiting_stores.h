// Stores of parts of sectors that wait for the rest of an SM's way to the L2: a later store to the same sectors joins one that waits. On an
// H200 the words of a row that a thread stores one after another take the time of one, as long as all rows that are being stored have few
// lines (all-* of tests/corpus/timing/mechanisms/stores.toml; traces/hw/h200-2026-11-27-arithmetic.csv).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "drywell/sim/access.h"

namespace drywell::sim {

class WaitingStores {
 public:
  /// Takes those sectors of a store, from run `first` on, out of `runs` that wait already; the others wait from now on. `among`: the youngest
  /// lines that it can join.
  void join(std::vector<ByteRange>& runs, size_t first, uint32_t among) {
    rest_.clear();
    for (size_t i = first; i < runs.size(); ++i) {
      const bool in_parts = runs[i].turns * 32 == runs[i].bytes;
      in_parts ? take(runs[i], among) : rest_.push_back(runs[i]);
    }
    runs.resize(first);
    runs.insert(runs.end(), rest_.begin(), rest_.end());
  }

 private:
  static constexpr uint32_t kLines = 64;
  struct Line {
    uint64_t line = ~uint64_t{0};
    uint32_t sectors = 0;
  };

  void take(const ByteRange& r, uint32_t among) {
    for (uint64_t at = r.address; at < r.address + r.bytes; at += 32) {
      if (!adds(at / 128, 1u << (at % 128 / 32), among)) continue;
      const bool follows = !rest_.empty() && rest_.back().address + rest_.back().bytes == at && rest_.back().turns * 32 == rest_.back().bytes;
      if (!follows) rest_.push_back({at, 0, 0});
      rest_.back().bytes += 32;
      ++rest_.back().turns;
    }
  }
  // Returns false if the sector waits.
  bool adds(uint64_t line, uint32_t sector, uint32_t among) {
    for (uint32_t k = 1; k <= among; ++k) {
      Line& l = lines_[(next_ + kLines - k) % kLines];
      if (l.line != line) continue;
      const bool fresh = (l.sectors & sector) == 0;
      l.sectors |= sector;
      return fresh;
    }
    lines_[next_] = {line, sector};
    next_ = (next_ + 1) % kLines;
    return true;
  }

  std::array<Line, kLines> lines_;
  uint32_t next_ = 0;
  std::vector<ByteRange> rest_;  // of the store that joins
};

}  // namespace drywell::sim
