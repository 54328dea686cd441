#include "kernels/reference/gemm_blockwise.h"

#include <algorithm>
#include <cmath>

namespace drywell::kernels::reference {
namespace {

/// Columns [first, first + count) of an operand, up to its end.
struct Columns {
  Columns(const GemmOperand& o, uint64_t first, uint64_t count) : operand(o) {
    operand.k = first >= o.k ? 0 : std::min(count, o.k - first);
    codes.reserve(o.rows * operand.k);
    for (uint64_t r = 0; r < o.rows; ++r) codes.insert(codes.end(), o.codes + r * o.k + first, o.codes + r * o.k + first + operand.k);
    operand.codes = codes.data();
  }
  Columns(const Columns&) = delete;
  GemmOperand operand;
  std::vector<uint16_t> codes;
};

}  // namespace

std::vector<float> blockwise_sums(const GemmOperand& a, const BlockFactors& sfa, const GemmOperand& b, const BlockFactors& sfb,
                                  const BlockwiseArithmetic& arithmetic, unsigned threads) {
  const uint64_t factors = (a.k + arithmetic.granularity_k - 1) / arithmetic.granularity_k;
  const uint64_t padded = (a.k + arithmetic.stage_k - 1) / arithmetic.stage_k * arithmetic.stage_k;
  std::vector<float> sums(a.rows * b.rows, 0.0f);
  for (uint64_t block = 0; block < padded / arithmetic.granularity_k; ++block) {
    const Columns left(a, block * arithmetic.granularity_k, arithmetic.granularity_k), right(b, block * arithmetic.granularity_k, arithmetic.granularity_k);
    std::vector<float> acc(sums.size(), 0.0f);
    if (left.operand.k != 0) acc = gemm_accumulators(left.operand, right.operand, arithmetic.instruction, threads);
    const auto factor = [&](const BlockFactors& f, uint64_t row) { return block < factors ? f.values[row / f.granularity * factors + block] : 0.0f; };
    for (uint64_t i = 0; i < a.rows; ++i) {
      const float fa = factor(sfa, i);
      for (uint64_t j = 0; j < b.rows; ++j) {
        const float fb = factor(sfb, j), x = acc[i * b.rows + j];
        float& sum = sums[i * b.rows + j];
        sum = arithmetic.promotion == Promotion::product_first ? std::fma(x, fa * fb, sum) : std::fma(x * fa, fb, sum);
      }
    }
  }
  return sums;
}

}  // namespace drywell::kernels::reference
