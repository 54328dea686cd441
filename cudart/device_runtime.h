// Functions of libcudadevrt.a, which has them as machine code: barriers of the grid and conditions of graphs, as PTX.
#pragma once

#include <string_view>
#include <vector>

#include "cudart/fatbin.h"
#include "drywell/isa/instruction.h"

namespace drywell::cudart {

/// cudaCGGetIntrinsicHandle and cudaCGSynchronize: grid.sync() of cooperative groups, compiled apart.
std::string_view grid_barrier();

/// True if a unit's PTX may need functions of this file.
bool uses_device_runtime(std::string_view ptx);
/// Whether a translation unit is libcudadevrt's own, which nvcc links to programs with dynamic parallelism: its PTX calls the driver.
bool is_device_runtime(const std::vector<FatbinImage>& unit);
/// Adds the functions that the units declare and do not define.
void add_device_runtime(std::vector<isa::Module>& units);

}  // namespace drywell::cudart
