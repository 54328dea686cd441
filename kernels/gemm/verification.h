// Comparison of a GEMM's output with the independent reference, and its error against float64.
#pragma once

#include "kernels/gemm/gemm.h"
#include "kernels/reference/gemm.h"

namespace drywell::kernels::gemm {

/// The reference's names of the simulator's formats.
reference::NumberFormat number_format(numeric::Format f);
reference::OutputFormat output_format(isa::TensorType t);

/// Compares codes of outputs of 2 or 4 bytes.
void compare_outputs(KernelReport& report, const std::vector<uint32_t>& got, const std::vector<uint32_t>& want, uint64_t columns,
                     uint32_t bytes);

/// The code of `value` in an output type, nearest even.
uint32_t output_code(float value, isa::TensorType type);

/// Compares every value of `d` bit for bit and adds the error against the float64 product of the same
/// operands to the notes.
void verify(KernelReport& report, const GemmPlan& plan, const GemmProblem& problem,
            const std::vector<uint32_t>& d, unsigned threads);

}  // namespace drywell::kernels::gemm
