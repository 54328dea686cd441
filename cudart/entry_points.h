// The entry points of the driver interface by name, for programs that look them up at run time.
#pragma once

#include <string_view>

namespace drywell::cudart {

/// Address of for example "cuTensorMapEncodeTiled", or nullptr. A name means the newest version of its function that CUDA `version` has (12020
/// for 12.2): "cuMemAlloc" is cuMemAlloc_v2.
void* driver_entry_point(std::string_view name, int version);

}  // namespace drywell::cudart
