// Stores of parts of sectors that wait for the rest of an SM's way to the L2: a later store to the same sectors joins one that waits. On an
// H200 the words of a row that a thread stores one after another take the time of one, as long as all rows that are being stored have few
// lines (all-* of tests/corpus/timing/mechanisms/stores.toml; traces/hw/h200-2026-11-27-arithmetic.csv). Where rows have more lines than there
// are places, a part of the words still joins: 36 lines two thirds of them, 64 a fifth, 160 a twelfth (dense_store_* and late_* of f64.toml and
// late.toml). So a line that comes takes any place whose line has not been used for a while, not that of the oldest: of lines that are stored in
// turn 43 % of 36 join, 26 % of 40, and none of 64, where an H200 still joins some.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "drywell/sim/access.h"

namespace drywell::sim {

class WaitingStores {
 public:
  /// Takes those sectors of a store of that warp, from run `first` on, out of `runs` that wait already; the others wait from now on.
  void join(std::vector<ByteRange>& runs, size_t first, uint32_t warp) {
    const uint64_t lines = lines_of(runs, first);
    if (lines > kOfMany) {
      of_many_.fill({});
      return;
    }
    const bool few = lines <= kOfFew;
    if (few && of_few_.size() <= warp) of_few_.resize(warp + 1);
    rest_.clear();
    for (size_t i = first; i < runs.size(); ++i) {
      const bool in_parts = runs[i].turns * 32 == runs[i].bytes;
      in_parts ? take(runs[i], few ? of_few_[warp].data() : nullptr) : rest_.push_back(runs[i]);
    }
    runs.resize(first);
    runs.insert(runs.end(), rest_.begin(), rest_.end());
  }

 private:
  static constexpr uint32_t kOfFew = 4, kOfMany = 29;
  struct Line {
    uint64_t line = ~uint64_t{0};
    uint32_t sectors = 0;
    bool used = false;  // since all had been
  };

  // A store to more lines than there are places leaves at once (transpose_naive-2048 of tests/corpus/timing).
  static uint64_t lines_of(const std::vector<ByteRange>& runs, size_t first) {
    uint64_t lines = 0, last = ~uint64_t{0};
    for (size_t i = first; i < runs.size(); ++i) {
      const uint64_t from = runs[i].address / 128, to = (runs[i].address + runs[i].bytes - 1) / 128;
      lines += to - from + (from == last ? 0 : 1);
      last = to;
    }
    return lines;
  }
  // `few`: the places of the warp, for a store to few lines.
  void take(const ByteRange& r, Line* few) {
    for (uint64_t at = r.address; at < r.address + r.bytes; at += 32) {
      const Line sector{at / 128, 1u << (at % 128 / 32), true};
      if (!(few != nullptr ? adds({few, kOfFew}, sector, [this] { return next_place(); }) : adds(of_many_, sector, [this] { return any_place(); }))) continue;
      const bool follows = !rest_.empty() && rest_.back().address + rest_.back().bytes == at && rest_.back().turns * 32 == rest_.back().bytes;
      if (!follows) rest_.push_back({at, 0, 0});
      rest_.back().bytes += 32;
      ++rest_.back().turns;
    }
  }
  // `place()`: of the line, if it does not wait. Returns false if the sector waits.
  template <class Place>
  static bool adds(std::span<Line> lines, const Line& sector, Place&& place) {
    for (Line& l : lines) {
      if (l.line != sector.line) continue;
      const bool fresh = (l.sectors & sector.sectors) == 0;
      l.sectors |= sector.sectors;
      l.used = true;
      return fresh;
    }
    lines[place()] = sector;
    return true;
  }
  uint32_t next_place() { return next_ = (next_ + 1) % kOfFew; }
  // The same places in every run: a linear congruence (Numerical Recipes, 7.1).
  uint32_t any_place() {
    state_ = state_ * 1664525 + 1013904223;
    const uint32_t first = (state_ >> 16) % kOfMany;
    for (uint32_t k = 0; k < kOfMany; ++k) {
      if (!of_many_[(first + k) % kOfMany].used) return (first + k) % kOfMany;
    }
    for (Line& l : of_many_) l.used = false;
    return first;
  }

  std::vector<std::array<Line, kOfFew>> of_few_;  // by warp
  std::array<Line, kOfMany> of_many_;
  uint32_t next_ = 0, state_ = 1;
  std::vector<ByteRange> rest_;  // of the store that joins
};

}  // namespace drywell::sim
