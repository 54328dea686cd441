// Copies and fills as actions of a stream or a graph.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

Action copy_action(Context& c, CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind);
Action copy_action(Context& c, void* to, const void* from, size_t bytes, CopyKind kind);
/// Action of a cudaMemcpy3D. Throws CallFailed for arrays, which are not served.
Action copy_action(Context& c, const Memcpy3DParms* p);
/// The same as work of a graph's node.
Work copy_work(Context& c, const Memcpy3DParms* p);
Memcpy3DParms linear_copy(void* to, const void* from, size_t bytes, CopyKind kind);

}  // namespace drywell::cudart
