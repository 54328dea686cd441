// Properties of the simulated device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/sim/device.h"

namespace drywell::cudart {

/// Compute capability times ten: 100, 90.
int compute_capability(const sim::Device& d);
/// Value of a cudaDeviceAttr; 0 for an attribute that is not served. Throws CallFailed for an unknown number.
int device_attribute(const sim::Device& d, int attribute);
/// Returns for example "NVIDIA B200 (simulated by Drywell)"
std::string device_name(const sim::Device& d);

/// cudaDeviceProp of CUDA 13 and of CUDA 12.
void fill_properties13(const sim::Device& d, void* out);
void fill_properties12(const sim::Device& d, void* out);

}  // namespace drywell::cudart
