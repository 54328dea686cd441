// Command-line parameters of each of the GEMM kernels, and the configuration that they describe.
#pragma once

#include <vector>

#include "drywell/kernels/quantize.h"
#include "drywell/launch/params.h"
#include "kernels/gemm/plan.h"

namespace drywell::kernels::gemm {

enum class Family : uint8_t {
  bf16,
  fp8,
  blockscaled
};

std::vector<Parameter> parameters_of(Family family);

/// Throws InputError E2302 for parameters that exclude each other.
GemmConfig config_of(const Params& params, Family family);

/// Returns the recipe that quantizes one operand.
QuantizeRecipe recipe_of(const GemmConfig& config, isa::MmaElement element, Family family);

}  // namespace drywell::kernels::gemm
