// Comparison of a GEMM's output with the independent reference, and its error against float64.
#pragma once

#include "drywell/kernels/reference_gemm.h"
#include "kernels/gemm/gemm.h"

namespace drywell::kernels::gemm {

/// Compares every value of `d` bit for bit; adds the error against the float64 product of the same operands to the
/// report's notes.
void verify(KernelReport& report, const GemmPlan& plan, const GemmProblem& problem,
            const std::vector<uint32_t>& d, unsigned threads);

}  // namespace drywell::kernels::gemm
