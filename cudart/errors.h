// Names and texts of CUDA's errors, and the CUDA error of each fault or rejected launch.
#pragma once

#include <string_view>

#include "cudart/abi.h"
#include "drywell/core/error.h"

namespace drywell::cudart {

/// Returns for example "cudaErrorInvalidValue"; "unrecognized error code" for an unknown number.
const char* runtime_name(CudaError e);
/// Returns for example "CUDA_ERROR_INVALID_VALUE"; nullptr for an unknown number.
const char* driver_name(CudaError e);
/// Returns for example "invalid argument"; nullptr for an unknown number.
const char* error_text(CudaError e);

/// Returns the error that a device reports for a fault's code (docs/errors.md). These errors stay until a device reset.
CudaError error_of_fault(Code code);
/// Returns the CUDA error for an exception of the simulator.
CudaError error_of(const Error& e);

}  // namespace drywell::cudart
