// The kernels of Drywell, each with the description that the command line needs to list, build, run and verify it.
//
// A kernel is in kernels/<name>/ (device code in the DSL, host side, reference) and has one entry in the table of
// kernels/registry.cpp. docs/adding-a-kernel.md walks through one.
#pragma once

#include <span>
#include <string_view>

#include "drywell/launch/kernel.h"

namespace drywell::kernels {

/// The table, in the order `drywell list` shows.
std::span<const Kernel> all_kernels();
/// Returns the kernel of that name, or of a shared object (drywell/launch/kernel_library.h). Throws InputError E4305, E4312.
const Kernel& find_kernel(std::string_view name);

}  // namespace drywell::kernels
