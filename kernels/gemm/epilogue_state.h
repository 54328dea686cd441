// State of the epilogue warps between subtiles. Private to kernels/gemm.
#pragma once

#include <optional>

#include "kernels/gemm/made_maps.h"

namespace drywell::kernels::gemm {

struct GemmDevice::EpilogueState {
  EpilogueState(isa::KernelBuilder& k, const GemmPlan& p)
      : accumulator(k, p.accumulators, isa::PipelineState::Role::consumer),
        out(k, kOutBuffers, isa::PipelineState::Role::consumer) {
    if (p.config.blockwise()) block_scales.emplace(k, kBlockRing, isa::PipelineState::Role::consumer);
  }

  isa::PipelineState accumulator, out;             // the stage in tensor memory; the staging buffer
  std::optional<isa::PipelineState> block_scales;  // the stage of software scales
  isa::RegArray promoted;                          // with software scales: the sums of a thread's row
  Reg first_lane;                                  // predicate: the thread that issues TMA operations
  Reg tmem, row_in_tile, staging, source_barriers, chunk_swizzle;
  Reg map_c, map_d, alpha, beta;
  Reg part, own_row, first_column;  // software scales: half of the row (if it is shared); row in the tile; column in the tile
  Reg part_factor;                  // bytes from the left half's factors to this half's, if each half has its own
  Reg place;                        // column-major output: the thread's first element in the staging buffer
  MadeMaps maps;                    // grouped: of D and C
};

}  // namespace drywell::kernels::gemm
