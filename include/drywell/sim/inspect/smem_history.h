// History of shared memory in one launch: what each operation and each warp read and wrote, in which cycle, as which elements, with the
// values; and the states of the mbarriers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/tmem_blocks.h"

namespace drywell::sim {

class Listener;

/// Shared memory as a grid: lines of 128 bytes, in each the 32 banks of 4 bytes.
inline constexpr uint32_t kSmemLineBytes = 128, kSmemBanks = 32;  // of a line

/// How the bytes of an operand are elements: a box of a tensor map, or an operand of tcgen05.mma by its descriptor.
struct SmemForm {
  std::string operand;                 // "A", "B", "T0" (the first tensor)
  std::string type;                    // "bf16", "f32", …
  std::string doc;                     // "bf16 tensor of 512 x 256, box 64 x 128, swizzle 128B"
  std::array<std::string, 2> names;    // of the axes: {"m", "k"}; of a tensor's two inner dimensions {"y", "x"}
  std::vector<isa::TmemBlock> blocks;  // lane: line of the window; column: bank
  uint32_t start = 0;                  // byte of the window at which the first element lies but for the swizzle
};

/// Bytes that follow each other.
struct SmemRun {
  uint32_t begin = 0, bytes = 0;  // of the CTA's window
  bool operator==(const SmemRun&) const = default;
};

/// One operation on one CTA's shared memory.
struct SmemStep {
  std::string role;               // "TMA load", "A", "st", …
  bool writes = false;            // else it reads
  uint8_t cta = 0;                // rank in the cluster
  std::vector<SmemRun> runs;      // in order, apart from each other
  uint64_t issued = 0, done = 0;  // cycles (timed driver) or instructions of the cluster; done 0: in flight at the end
  uint32_t place = 0;             // index into SmemHistoryData::places
  uint32_t warp = 0;              // of the issuing CTA
  int32_t form = -1;              // index into forms
  int32_t row = 0, index = 0;     // added to those of the form's elements
  std::vector<uint32_t> values;   // after a write: the words of whole lines, from the first run's to the last one's; empty: not kept
};

/// An mbarrier after a change.
struct SmemBarrier {
  uint8_t cta = 0;                     // rank in the cluster
  uint32_t offset = 0;                 // of the CTA's window
  uint64_t at = 0, phase = 0;          // time, as in SmemStep, and number of the phase
  uint32_t pending = 0, expected = 0;  // arrivals that are missing, and those of a phase
  int32_t tx = 0;                      // bytes that are missing
  const char* what = "";               // the change
};

/// What a SmemHistory recorded. Times as in SmemStep.
struct SmemHistoryData {
  bool seen = false;                   // the launch had that CTA
  bool truncated = false;              // more operations than kMostSteps
  bool values_dropped = false;         // values of early writes are not kept
  uint64_t from = 0, to = 0;           // of the record
  uint32_t bytes = 0;                  // of a CTA's window
  std::vector<Dim3> ctas;              // by rank
  uint32_t first_rank = 0, ranks = 0;  // those that the history has: one CTA, or a pair
  uint32_t warps = 0;                  // of a CTA
  std::vector<std::string> roles;      // of each warp; may be empty
  std::vector<std::string> places;     // "tcgen05.mma at kernels/gemm/mma.cpp:88"
  std::vector<SmemForm> forms;         // of the operands
  std::vector<SmemBarrier> barriers;   // in the order of their changes
  std::vector<SmemStep> steps;         // in the order of issue
};

/// Records the CTA and, in a cluster, the other CTA of its pair. `value_bytes`: of values that are kept; the last ones are.
class SmemHistory {
 public:
  /// Most operations that are kept.
  static constexpr size_t kMostSteps = 50000;
  /// `cta`: its coordinates in the grid.
  explicit SmemHistory(Dim3 cta = {0, 0, 0}, size_t value_bytes = size_t{8} << 20);
  ~SmemHistory();
  SmemHistory(const SmemHistory&) = delete;
  SmemHistory& operator=(const SmemHistory&) = delete;
  /// For RunOptions::listeners.
  Listener* listener();
  /// The history; complete after the launch.
  const SmemHistoryData& data() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drywell::sim
