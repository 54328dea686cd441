// The timing driver's state of one resident warp.
#pragma once

#include "sim/state/warp.h"
#include "sim/timing/scoreboard.h"

namespace drywell::sim {

struct Partition;

struct WarpIssueFields {
  enum class State : uint8_t {
    none,
    ready,
    load,
    blocked,
    finished
  };

  Warp* warp = nullptr;
  Partition* unit = nullptr;   // its sub-partition
  uint64_t* stalls = nullptr;  // its role's cycles, by reason
  uint32_t resident = 0;
  uint16_t sm = 0, role = 0;
  uint16_t place = 0;  // in its sub-partition
  State state = State::none;
  Stall hold_reason = Stall::issue_cost, wait_reason = Stall::register_dependency;
  Time hold = 0;         // its last instruction lets it issue again
  Time ready = 0;        // operands are ready
  Time inputs = 0;       // its registers alone are ready
  Time block_start = 0;  // entry of the basic block: the last branch taken
  Time settled = 0;      // the results of its matrix products are there
  Time admitted = 0;     // its pipe accepted the instruction that issues
  Time mark = 0;         // cycles before this one are accounted for
  uint64_t serial = 0;   // number of the wait: an event for an older wait is void
  uint64_t load = 0;     // the load that the warp waits for
  bool time_out_queued = false;
  Time blocked_at = 0;
};

struct WarpIssueState : WarpIssueFields {
  Scoreboard registers;

  /// Another warp takes the place; events for the previous warp are void.
  void restart(uint32_t slots) {
    static_cast<WarpIssueFields&>(*this) = {.serial = serial + 1, .time_out_queued = time_out_queued};
    registers.reset(slots);
  }
};

}  // namespace drywell::sim
