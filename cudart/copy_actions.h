// Copies and fills as actions of a stream or a graph.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

Action copy_action(Context& c, CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind);
Action copy_action(Context& c, void* to, const void* from, size_t bytes, CopyKind kind);
/// Action of a cudaMemcpy3D. Throws CallFailed for arrays, which are not served.
Action copy_action(Context& c, const Memcpy3DParms* p);

}  // namespace drywell::cudart
