// nvJitLink's interface, served by Drywell's linker of PTX.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::cudart {

/// The function that takes the place of the named one, or nothing. `original` is where that one's own code
/// is: code for optimisation at link time (-dlto) becomes PTX by the library itself.
const void* nvjitlink_function(std::string_view name, uintptr_t original);

}  // namespace drywell::cudart
