// Equivalent mutants: their change has no effect, so that no run has to report them. docs/hazards.md lists them by
// kernel.
#pragma once

#include <string>

#include "tools/mutation.h"

namespace drywell::tools {

/// Returns the reason why a mutant that survived every schedule is equivalent to the kernel; empty if no reason is known. The
/// reasons are valid because the checker, which decides by the happens-before order, found no access that relied on the removed
/// instruction. `no_news`: the mutant changes a wait that, in every run of the unchanged kernel, tested only phases that its warp
/// already knew to be complete.
std::string equivalence(const Mutant& m, bool no_news);

}  // namespace drywell::tools
