// Operands that instructions trip over, then random ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drywell::kernels::conformance {

/// Rows of every program: the first 16 x 16 pair each edge value with each, the rest are random.
inline constexpr size_t kRows = 512;

/// Column `position` (0 for the first operand, …) of `kind` (the letters of LaneForm::operands).
std::vector<uint64_t> operand_values(char kind, size_t position, uint64_t seed);

}  // namespace drywell::kernels::conformance
