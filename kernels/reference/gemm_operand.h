// Decoded operands of the GEMM reference, in the layout of its inner loops. Private to kernels/reference.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/kernels/reference_gemm.h"
#include "kernels/reference/number.h"

namespace drywell::kernels::reference {

Number number_of(NumberFormat format, uint32_t code);
unsigned fraction_bits(NumberFormat format);

/// Exponent of a zero: lower than all others, also as half of a sum.
inline constexpr int32_t kZeroExponent = -16000;

/// Element by element: value = significand * 2^(exponent - fraction bits); the exponent includes the scale's.
struct AlignedOperand {
  std::vector<float> significand;  // rows x padded k, integers with a sign
  std::vector<int32_t> exponent;
};

/// In groups of sixteen e2m1 elements: `twice` is twice the values, exact.
struct GroupedOperand {
  std::vector<int16_t> twice;     // rows x padded k
  std::vector<uint16_t> nonzero;  // rows x groups: bit i is set if element i is not zero
  std::vector<int32_t> scale;     // significand of the group's scale
  std::vector<int32_t> exponent;  // raw exponent of the scale; kZeroExponent where the scale is zero
};

/// An operand with K padded to whole instructions.
struct PreparedOperand {
  const GemmOperand* source = nullptr;
  uint64_t steps = 0, padded_k = 0;
  std::vector<uint8_t> special;  // rows x steps: the step has a NaN or an infinity
  AlignedOperand aligned;
  GroupedOperand grouped;

  Number element(uint64_t row, uint64_t k) const;
  Number scale(uint64_t row, uint64_t k) const;  // 1 without scales
};

PreparedOperand prepare(const GemmOperand& operand, const GemmArithmetic& arithmetic);

}  // namespace drywell::kernels::reference
