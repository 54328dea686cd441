// The entry points of the driver interface by name, for programs that ask for them at run time.
#pragma once

#include <string_view>

namespace drywell::cudart {

/// Address of "cuTensorMapEncodeTiled", or nullptr. A name stands for its newest version ("cuMemAlloc" for cuMemAlloc_v2).
void* driver_entry_point(std::string_view name);

}  // namespace drywell::cudart
