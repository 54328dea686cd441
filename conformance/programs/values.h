// Edge values of operands, then random values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drywell::kernels::conformance {

/// Number of rows of every program: the first 16 x 16 combine each edge value with each, the rest are random.
inline constexpr size_t kRows = 512;

/// Returns column `position` (0 for the first operand, …) of `kind` (the letters of LaneForm::operands).
std::vector<uint64_t> operand_values(char kind, size_t position, uint64_t seed);

}  // namespace drywell::kernels::conformance
