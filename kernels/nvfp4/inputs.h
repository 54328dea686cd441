// Shared code of the NVFP4 kernels' entries in the table of kernels: parameters, the bf16 input, the arithmetic's
// options.
#pragma once

#include <vector>

#include "kernels/nvfp4/nvfp4.h"
#include "kernels/reference/nvfp4_block.h"

namespace drywell::kernels::nvfp4 {

/// rows, columns, distribution, input-seed.
std::vector<Parameter> matrix_parameters(std::string_view rows, std::string_view columns);
/// rounding (unless `nearest_only`), scale-order, approximate-reciprocal, seed, offset, amax.
std::vector<Parameter> quantize_parameters(bool nearest_only);
std::vector<Parameter> join_parameters(std::vector<Parameter> a, std::vector<Parameter> b);

struct Bf16Input {
  uint64_t rows = 0, columns = 0;
  std::vector<uint16_t> values;
};
/// Reads --input or generates; a file sets the sizes. Throws InputError E2110 for sizes that no kernel here supports.
Bf16Input bf16_input(const RunContext& c);

Arithmetic arithmetic_of(const Params& p);
reference::Nvfp4Scaling scaling_of(const Params& p);

}  // namespace drywell::kernels::nvfp4
