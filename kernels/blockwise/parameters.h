// Command-line parameters of both the Blackwell and the Hopper blockwise GEMM.
#pragma once

#include "drywell/launch/params.h"
#include "kernels/blockwise/problem.h"

namespace drywell::kernels::blockwise {

/// m, n, k, formats, granularities, alpha, beta, d-type, distribution, input-seed.
std::vector<Parameter> common_parameters();

/// These convert the common parameters.
ProblemSpec spec_of(const Params& p);
Scalars scalars_of(const Params& p);

/// "128x256x512,64x64x128" as shapes; empty text: none. Throws InputError E2310.
std::vector<Shape> parse_shapes(const std::string& text);

NpyArray output_array(const std::vector<uint32_t>& d, const Shape& s, isa::TensorType type);
std::string describe(const ProblemSpec& s);

}  // namespace drywell::kernels::blockwise
