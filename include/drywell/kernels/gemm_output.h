// Comparison of GEMM outputs with the independent reference, and the reference's names of formats.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/tensor_map.h"
#include "drywell/kernels/quantize.h"
#include "drywell/kernels/reference_gemm.h"
#include "drywell/launch/kernel.h"
#include "drywell/sim/numeric/format.h"

namespace drywell::kernels::gemm {

/// The reference's names of the simulator's formats.
reference::NumberFormat number_format(numeric::Format f);
/// The same of a result's type.
reference::OutputFormat output_format(isa::TensorType t);

/// The operand as the reference takes it; it refers to `q`.
reference::GemmOperand reference_operand(const QuantizedMatrix& q);
/// D as a .npy array, from codes of the output type.
NpyArray output_array(const std::vector<uint32_t>& d, uint64_t rows, uint64_t columns, isa::TensorType type);

/// Compares codes of outputs of 2 or 4 bytes.
void compare_outputs(KernelReport& report, const std::vector<uint32_t>& got, const std::vector<uint32_t>& want, uint64_t columns,
                     uint32_t bytes);

/// Returns the code of `value` in an output type, rounded to nearest even.
uint32_t output_code(float value, isa::TensorType type);

}  // namespace drywell::kernels::gemm
