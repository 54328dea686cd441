// Names and texts of CUDA's errors, and which of them a fault or a refused launch is.
#pragma once

#include <string_view>

#include "cudart/abi.h"
#include "drywell/core/error.h"

namespace drywell::cudart {

/// "cudaErrorInvalidValue"; "unrecognized error code" if there is no such number.
const char* runtime_name(CudaError e);
/// "CUDA_ERROR_INVALID_VALUE", or nullptr.
const char* driver_name(CudaError e);
/// "invalid argument", or nullptr.
const char* error_text(CudaError e);

/// What a device reports for a fault's code (docs/errors.md). These errors stay until the device is reset.
CudaError error_of_fault(std::string_view code);
/// What an exception of the simulator means to a CUDA program.
CudaError error_of(const Error& e);

}  // namespace drywell::cudart
