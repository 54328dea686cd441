// Host reference of GEMMs with software scaling of accumulators: a fused sum for every instruction of a block of K, from
// zero, then one promotion in f32 for each block.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/kernels/reference_gemm.h"

namespace drywell::kernels::reference {

/// ceil(rows / granularity) x ceil(k / granularity_k) factors, k contiguous.
struct BlockFactors {
  const float* values = nullptr;
  uint32_t granularity = 1;
};

enum class Promotion : uint8_t {
  product_first,  // sum = fma(accumulator, fl(SFA * SFB), sum)
  a_then_b,       // sum = fma(fl(accumulator * SFA), SFB, sum)
};

struct BlockwiseArithmetic {
  GemmArithmetic instruction;
  uint32_t granularity_k = 128;
  uint32_t stage_k = 128;  // the kernel rounds K up to a multiple: blocks past the end have factors of zero
  Promotion promotion = Promotion::product_first;
};

/// Returns a.rows x b.rows sums.
std::vector<float> blockwise_sums(const GemmOperand& a, const BlockFactors& sfa, const GemmOperand& b, const BlockFactors& sfb,
                                  const BlockwiseArithmetic& arithmetic, unsigned threads);

}  // namespace drywell::kernels::reference
