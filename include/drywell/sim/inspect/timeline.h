// Activity of one CTA over time, recorded in a timed run for pictures of time (the HTML report).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/sim/report.h"

namespace drywell::sim {

class Listener;

/// What a recorder saw of one CTA. All times are cycles.
struct Timeline {
  /// A warp in one state; Stall::issued: it issued in every cycle.
  struct Span {
    uint64_t from = 0, to = 0;    // cycles; `to` is not in it
    Stall state = Stall::issued;  // why it waited
    uint32_t line = 0;            // index in `lines`, of the last instruction issued
  };
  /// One warp over time.
  struct WarpTrack {
    std::string role;         // of the warp; may be empty
    std::vector<Span> spans;  // in order
  };
  /// An operation of a unit.
  struct Operation {
    uint32_t unit = 0;                           // index in `units`
    std::string what;                            // "tensor load"
    uint32_t warp = 0;                           // issuer
    uint32_t line = 0;                           // index in `lines`
    uint64_t issued = 0, started = 0, done = 0;  // by the warp, by the unit, its completion
    int32_t waiter = -1;                         // the first warp whose wait ended by its mbarrier
    uint64_t waited = 0;                         // cycles that the waiter waited
  };
  /// Use of the SM's memories from cycle `at` on.
  struct Level {
    uint64_t at = 0;        // a cycle
    uint64_t smem = 0;      // bytes allocated to CTAs
    uint64_t arriving = 0;  // bytes that mbarriers still expect
    uint64_t tmem = 0;      // allocated columns
  };
  Dim3 cta{};                         // the CTA
  bool seen = false;                  // the launch had that CTA
  bool truncated = false;             // the limits on spans or operations were exceeded
  uint64_t from = 0, to = 0;          // first and last cycle of the CTA
  uint64_t smem_capacity = 0;         // bytes of an SM
  std::vector<WarpTrack> warps;       // by number in the CTA
  std::vector<std::string> units;     // names
  std::vector<Operation> operations;  // in the order of issue
  std::vector<Level> levels;          // in order of time
  std::vector<std::string> lines;     // "kernel.cpp:61"
};

/// Records one CTA of timed launches, one after the other. One thread uses it at a time.
class TimelineRecorder {
 public:
  /// Records the CTA with these coordinates. `most_spans`: states that are kept of a warp, in each launch.
  explicit TimelineRecorder(Dim3 cta, size_t most_spans = 24000);
  ~TimelineRecorder();
  /// For RunOptions::listeners.
  Listener* listener();
  /// Of each finished launch, in their order; `seen` is false if it had no such CTA.
  const std::vector<Timeline>& timelines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drywell::sim
