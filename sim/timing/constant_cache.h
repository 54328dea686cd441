// An SM's cache for constant memory that is read at a register's address, and what such a load costs (const.toml of
// tests/corpus/timing/mechanisms, traces/hw/h200-2026-11-28-tables.csv): the words that the lanes name come one after another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "drywell/sim/access.h"
#include "sim/timing/server.h"

namespace drywell::sim {

class ConstantCache {
 public:
  /// A load that arrives at `t`; returns the cycle at which its last word is there.
  double read(const LaneAddresses& a, double t) {
    const Distinct words(a, 4);
    const double start = port_.begin(t, kWord * words.count);
    double there = std::max(start + kOfAWarp * (words.count - 1), port_.free_at()) + kLatency;
    for (const uint64_t line : Distinct(a, kLine)) there = line_there(line, there);
    return there;
  }

 private:
  static constexpr uint64_t kLine = 64, kBlock = 256;
  static constexpr size_t kLines = 32;  // 2 KiB: a table of 512 words stays, one of 1,024 is missed in each pass
  static constexpr double kLatency = 31;
  static constexpr double kWord = 2.15;      // of the SM: 512 words of 16 warps take 1,210 cycles
  static constexpr double kOfAWarp = 11.06;  // 32 words of a warp alone take 404 cycles
  static constexpr double kMissed = 82, kFetched = 120;

  /// The numbers of the pieces of so many bytes that the lanes name.
  struct Distinct {
    Distinct(const LaneAddresses& a, uint64_t bytes) {
      for (LaneMask m = a.mask; m != 0; m &= m - 1) {
        const uint64_t piece = a.at[static_cast<size_t>(std::countr_zero(m))] / bytes;
        if (count == 0 || piece != pieces[count - 1]) pieces[count++] = piece;
      }
      std::sort(pieces.begin(), pieces.begin() + count);
      count = static_cast<uint32_t>(std::unique(pieces.begin(), pieces.begin() + count) - pieces.begin());
    }
    const uint64_t* begin() const { return pieces.data(); }
    const uint64_t* end() const { return pieces.data() + count; }
    std::array<uint64_t, kWarpSize> pieces;
    uint32_t count = 0;
  };
  struct Line {
    uint64_t number;
    double there;
  };

  // Returns the cycle at which the load has the line, whose other lines come at `t`. The next cache has it after a first load of its neighbours.
  double line_there(uint64_t number, double t) {
    const auto known = std::find_if(newest_.begin(), newest_.end(), [&](const Line& l) { return l.number == number; });
    Line line{number, t};
    if (known != newest_.end())
      line.there = known->there;
    else
      line.there += fetched_.insert(number * kLine / kBlock).second ? kMissed + kFetched : kMissed;
    if (known != newest_.end())
      newest_.erase(known);
    else if (newest_.size() == kLines)
      newest_.pop_back();
    newest_.insert(newest_.begin(), line);
    return std::max(t, line.there);
  }

  std::vector<Line> newest_;    // the newest first
  std::set<uint64_t> fetched_;  // blocks that the launch has read
  Server port_;
};

}  // namespace drywell::sim
