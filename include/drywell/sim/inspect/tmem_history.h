// History of tensor memory in one launch: what each instruction read and wrote, in which cycle, as which
// elements, with the values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/scale_picture.h"
#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/sim/inspect/tmem_record.h"

namespace drywell::sim {

/// A form of tcgen05.mma as it uses one operand, with the type of its elements.
struct TmemForm {
  isa::TmemUseForm use;                // the operand
  std::string type;                    // "f32", "bf16", "ue4m3", …
  std::vector<isa::TmemBlock> blocks;  // where its elements lie
};

/// One operation on one rectangle of one CTA's tensor memory.
struct TmemStep {
  TmemRole role = TmemRole::accumulator;                  // what the rectangle is to the instruction
  bool writes = false;                                    // else it reads
  uint8_t cta = 0;                                        // rank in the cluster
  uint16_t lane = 0, lanes = 0, column = 0, columns = 0;  // the rectangle
  uint64_t issued = 0, done = 0;                          // cycles (timed driver) or instructions of the cluster; done 0: in flight at the end
  uint32_t place = 0;                                     // index into TmemHistoryData::places
  uint32_t warp = 0;                                      // of the issuing CTA
  int32_t form = -1;                                      // index into forms; -1: the elements are those of the cells' last tcgen05.mma
  uint16_t base_lane = 0, base_column = 0;                // address of the operand: the form's blocks are relative to it
  uint8_t base_byte = 0;                                  // of scale factors: the factor id
  std::vector<uint32_t> values;                           // after a write: lane by lane; empty: not kept
};

/// An allocation of columns.
struct TmemHeld {
  uint8_t cta = 0;                   // rank in the cluster
  uint32_t column = 0, columns = 0;  // the columns
  uint64_t from = 0, to = 0;         // to == 0: still allocated at the end
};

/// What a TmemHistory recorded. Times as in TmemStep.
struct TmemHistoryData {
  bool seen = false;                   // the launch had that CTA
  bool truncated = false;              // more operations than kMostSteps
  bool values_dropped = false;         // values of early writes are not kept
  uint64_t from = 0, to = 0;           // of the record
  std::vector<Dim3> ctas;              // by rank
  uint32_t first_rank = 0, ranks = 0;  // those that the history has: one CTA, or a pair
  uint32_t warps = 0;                  // of a CTA
  std::vector<std::string> roles;      // of each warp; may be empty
  std::vector<std::string> places;     // "tcgen05.mma at kernels/gemm/mma.cpp:88"
  std::vector<TmemForm> forms;         // of the instructions
  std::vector<TmemHeld> held;          // allocations, in order of time
  std::vector<TmemStep> steps;         // in the order of issue
};

/// Records the CTA and, in a cluster, the other CTA of its pair. `value_bytes`: of values that are kept; the
/// last ones are.
class TmemHistory {
 public:
  /// Most operations that are kept.
  static constexpr size_t kMostSteps = 100000;
  /// `cta`: its coordinates in the grid.
  explicit TmemHistory(Dim3 cta = {0, 0, 0}, size_t value_bytes = size_t{8} << 20);
  ~TmemHistory();
  TmemHistory(const TmemHistory&) = delete;
  TmemHistory& operator=(const TmemHistory&) = delete;
  /// For RunOptions::listeners.
  Listener* listener();
  /// The history; complete after the launch.
  const TmemHistoryData& data() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Tensor memory to scale as it is at `at`: allocations, the last writer of each cell, and the operations in
/// flight.
isa::ScalePicture tmem_state_picture(const TmemHistoryData& h, uint64_t at);

}  // namespace drywell::sim
