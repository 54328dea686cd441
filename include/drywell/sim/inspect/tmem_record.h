// What a kernel does with tensor memory: allocations, and which instruction reads or writes which lanes and columns as what.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/tmem_check.h"
#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

class Listener;

/// What a region holds for the instruction that touches it.
enum class TmemRole : uint8_t { accumulator, a, sfa, sfb, metadata, copied, loaded, stored, shifted };
std::string_view to_string(TmemRole r);

/// One role of one source line on one rectangle, all its executions together.
struct TmemRegion {
  TmemRole role = TmemRole::accumulator;
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  std::string instruction, source;  // "tcgen05.mma…", "kernels/gemm/mma.cpp:88"
  uint64_t count = 0;
  uint64_t first = 0, last = 0;     // of the first issue and the last end: cycles (timed driver) or instructions of the cluster
  uint64_t in_flight = 0;           // not ended when recording stopped
};

struct TmemAllocation {
  uint32_t column = 0, columns = 0;
  uint64_t from = 0, to = 0;  // to == 0: still there
};

/// What a tcgen05.mma is and where its operands begin.
struct TmemMma {
  isa::TmemUseForm form;                 // but for its operand
  std::array<isa::TmemPlace, 4> begins;  // by TmemOperand: address in tensor memory; of scale factors also the byte that the factor id picks
};

/// Listens to one CTA of a launch, of one launch at a time. With `until` nothing that happens later counts: the picture is that of cycle `until`.
class TmemRecord {
 public:
  explicit TmemRecord(Dim3 cta = {0, 0, 0}, uint64_t until = ~uint64_t{0});
  ~TmemRecord();
  TmemRecord(const TmemRecord&) = delete;
  TmemRecord& operator=(const TmemRecord&) = delete;
  /// For RunOptions::listeners.
  Listener* listener();

  /// In order of columns, lanes and roles; neighbouring lanes that one source line touches are one region.
  std::vector<TmemRegion> regions() const;
  const std::vector<TmemAllocation>& allocations() const;
  /// tcgen05.mma operations in the order of their first issue, each form and address once.
  const std::vector<TmemMma>& mmas() const;
  /// The launch had that CTA.
  bool seen() const;
  bool whole_run() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Lane groups down, columns across, both cut where a region begins or ends; each cell names the roles of its regions.
layout::Grid tmem_picture(const TmemRecord& r, const layout::PictureOptions& options = {});

}  // namespace drywell::sim
