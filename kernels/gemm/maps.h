// Tensor maps of the GEMM kernels' operands, scale factors and output.
#pragma once

#include "drywell/launch/accelerator.h"
#include "kernels/gemm/plan.h"

namespace drywell::kernels::gemm {

/// Map of rows x k elements; `shares`: number of CTAs that each load a part of a tile's lines.
isa::TensorMap operand_map(Accelerator& device, const OperandPlan& p, GmemAddr at, uint64_t rows, uint64_t k, uint32_t tile_k,
                           uint32_t shares);
/// Map of atoms of 128 rows x 4 factors.
isa::TensorMap scale_map(Accelerator& device, GmemAddr at, uint64_t atoms_k, uint64_t atoms_rows, uint32_t box_k);
/// Map of m x n elements, in the epilogue's subtiles.
isa::TensorMap output_map(Accelerator& device, const GemmPlan& p, GmemAddr at, uint64_t m, uint64_t n);

}  // namespace drywell::kernels::gemm
