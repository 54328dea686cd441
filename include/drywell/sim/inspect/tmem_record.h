// Use of tensor memory by a kernel: allocations, and the lanes and columns that each instruction reads or writes, with their role.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/scale_picture.h"
#include "drywell/isa/inspect/tmem_check.h"
#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

class Listener;

/// Role of a region for the instruction that accesses it.
enum class TmemRole : uint8_t {
  accumulator,
  a,
  sfa,
  sfb,
  metadata,
  copied,
  loaded,
  stored,
  shifted
};
/// The role's name in pictures.
std::string_view to_string(TmemRole r);

/// One role of one source line on one rectangle, over all executions.
struct TmemRegion {
  TmemRole role = TmemRole::accumulator;                  // for the instruction
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;  // the rectangle: first lane, lanes, first column, columns
  std::string instruction, source;                        // "tcgen05.mma…", "kernels/gemm/mma.cpp:88"
  uint64_t count = 0;                                     // executions
  uint64_t first = 0, last = 0;                           // of the first issue and the last completion: cycles (timed driver) or instructions of the cluster
  uint64_t in_flight = 0;                                 // not complete when recording stopped
};

/// One tcgen05.alloc.
struct TmemAllocation {
  uint32_t column = 0, columns = 0;  // first column, columns
  uint64_t from = 0, to = 0;         // to == 0: still allocated
};

/// Form of a tcgen05.mma and the start addresses of its operands.
struct TmemMma {
  isa::TmemUseForm form;                 // without its operand
  std::array<isa::TmemPlace, 4> begins;  // by TmemOperand: address in tensor memory; of scale factors also the byte that the factor id selects
};

/// Records one CTA of a launch, of one launch and on one thread at a time. With `until`, later events are ignored: the record is that of cycle `until`.
class TmemRecord {
 public:
  /// Records CTA `cta` until the cycle.
  explicit TmemRecord(Dim3 cta = {0, 0, 0}, uint64_t until = ~uint64_t{0});
  ~TmemRecord();
  TmemRecord(const TmemRecord&) = delete;
  TmemRecord& operator=(const TmemRecord&) = delete;
  /// For RunOptions::listeners.
  Listener* listener();

  /// In order of columns, lanes and roles; adjacent lanes that one source line accesses are one region.
  std::vector<TmemRegion> regions() const;
  /// In the order of time.
  const std::vector<TmemAllocation>& allocations() const;
  /// tcgen05.mma operations in the order of their first issue, each form and address once.
  const std::vector<TmemMma>& mmas() const;
  /// The launch had that CTA.
  bool seen() const;
  /// True if nothing was ignored because of `until`.
  bool whole_run() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Rows are lane groups, columns are TMEM columns, both cut where a region begins or ends; each cell names the roles of its regions.
layout::Grid tmem_picture(const TmemRecord& r, const layout::PictureOptions& options = {});
/// The same to scale: 128 lanes and 512 columns.
isa::ScalePicture tmem_scale_picture(const TmemRecord& r);

}  // namespace drywell::sim
