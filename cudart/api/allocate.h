// Allocation in stream order, from any pool.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

/// Allocates at the call; if the stream captures, the graph gets a node for the allocation.
void allocate_in_stream(Context& c, void** out, size_t bytes, const void* stream);

}  // namespace drywell::cudart
