// Allocation in stream order, from any pool.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

/// Allocates now; in a stream that captures, the graph has a node for it.
void allocate_in_stream(Context& c, void** out, size_t bytes, const void* stream);

}  // namespace drywell::cudart
