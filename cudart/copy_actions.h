// Copies and fills as what a stream or a graph runs.
#pragma once

#include "cudart/context.h"

namespace drywell::cudart {

Action copy_action(Context& c, CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind);
Action copy_action(Context& c, void* to, const void* from, size_t bytes, CopyKind kind);
/// cudaMemcpy3D's words. Throws CallFailed for arrays, which are not served.
Action copy_action(Context& c, const Memcpy3DParms* p);

}  // namespace drywell::cudart
