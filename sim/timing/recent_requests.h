// Lines that a GPC's SMs have asked the L2 for and that are on their way: another SM's request joins the first one's. SMs of other GPCs
// gain nothing by it (l2.read.together-2 and l2.read.apart-2 of docs/lab/calibration.md).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timing/server.h"

namespace drywell::sim {

class RecentRequests {
 public:
  explicit RecentRequests(size_t gpcs) : entries_(gpcs * kLines) {}

  /// An SM of `gpc` asks for `sectors` (bits 0 to 3) of `line` at `now`, and would have them at `there`. Returns those that are on their way.
  uint32_t join(uint32_t gpc, uint32_t line, uint32_t sectors, Time now, Time there) {
    Entry& e = entries_[gpc * kLines + line % kLines];
    if (e.line != line || e.there <= now) e = {line, 0, there};
    const uint32_t before = e.sectors;
    e.sectors |= sectors;
    return before & sectors;
  }

 private:
  static constexpr size_t kLines = 8192;  // of a GPC; more than its SMs have in flight
  struct Entry {
    uint32_t line = ~0u, sectors = 0;
    Time there = 0;  // of the first
  };
  std::vector<Entry> entries_;
};

}  // namespace drywell::sim
