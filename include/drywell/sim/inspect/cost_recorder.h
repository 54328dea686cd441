// What each instruction of timed launches cost, the memory that it touched, and the arithmetic of the launch (the HTML report).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/sim/space.h"

namespace drywell::sim {

class Listener;

/// Loads or stores of one instruction.
struct AccessPattern {
  uint64_t count = 0;       // accesses by a warp; 0: the instruction touches neither global nor shared memory
  uint64_t units = 0;       // sectors of 32 bytes (global memory), passes through the banks (shared memory), over all accesses
  uint64_t least = 0;       // units that the same number of bytes need if neighbouring lanes have neighbouring bytes
  uint32_t bytes = 0;       // of a lane
  uint32_t most_lanes = 0;  // of an access
  int64_t stride = 0;       // bytes from a lane to the next; 0 if `uneven`
  bool uneven = false;      // the strides differ
  bool store = false;       // writes
  bool shared = false;      // shared memory; else global memory

  /// Units of an access.
  double per_access() const { return count == 0 ? 0 : static_cast<double>(units) / static_cast<double>(count); }
  /// Times as many units as the bytes need; 1: no fewer are possible.
  double excess() const { return least == 0 ? 1 : static_cast<double>(units) / static_cast<double>(least); }
};

/// One instruction of a kernel.
struct InstructionCost {
  std::string ptx;        // long register vectors are shortened
  std::string file;       // of the author's line, or of the PTX if there is none
  uint32_t line = 0;      // from 1
  uint64_t executed = 0;  // by warps
  double cycles = 0;      // warp cycles from the previous issue to this one
  AccessPattern access;   // of loads and stores
};

/// One launch.
struct LaunchCosts {
  std::vector<InstructionCost> instructions;  // those that were executed, in the order of the program
  double matrix_operations = 0;               // multiplications and additions of tensor-core instructions
  double lane_operations = 0;                 // those of floating-point instructions, over all lanes
};

/// Records timed launches. Attach listener() to one launch after another; not for launches at the same time.
class CostRecorder {
 public:
  CostRecorder();
  ~CostRecorder();
  /// For RunOptions::listeners.
  Listener* listener();
  /// Finished launches, in their order.
  const std::vector<LaunchCosts>& launches() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drywell::sim
