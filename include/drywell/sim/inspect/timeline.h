// What one CTA did when, kept while a timed run goes: for pictures of time (the HTML report).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/sim/report.h"

namespace drywell::sim {

class Listener;

struct Timeline {
  /// A warp in one state; Stall::issued: it issued every cycle.
  struct Span {
    uint64_t from = 0, to = 0;
    Stall state = Stall::issued;
    uint32_t line = 0;  // of `lines`; of the last instruction issued
  };
  struct WarpTrack {
    std::string role;
    std::vector<Span> spans;
  };
  /// Work given to a unit.
  struct Operation {
    uint32_t unit = 0;   // of `units`
    std::string what;    // "tensor load"
    uint32_t warp = 0;   // that issued it
    uint32_t line = 0;
    uint64_t issued = 0, started = 0, done = 0;
    int32_t waiter = -1;  // warp whose wait its mbarrier ended first
    uint64_t waited = 0;
  };
  /// The SM's memories from a cycle on.
  struct Level {
    uint64_t at = 0;
    uint64_t smem = 0;      // bytes that belong to CTAs
    uint64_t arriving = 0;  // bytes mbarriers still expect
    uint64_t tmem = 0;      // columns allocated
  };
  Dim3 cta{};
  bool seen = false;       // the launch had that CTA
  bool truncated = false;  // there was more than is kept
  uint64_t from = 0, to = 0;
  uint64_t smem_capacity = 0;
  std::vector<WarpTrack> warps;
  std::vector<std::string> units;
  std::vector<Operation> operations;
  std::vector<Level> levels;
  std::vector<std::string> lines;  // "kernel.cpp:61"
};

/// Listens to a timed launch, one at a time. A later launch with such a CTA replaces what was kept.
class TimelineRecorder {
 public:
  explicit TimelineRecorder(Dim3 cta);
  ~TimelineRecorder();
  Listener* listener();
  const Timeline& timeline() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drywell::sim
